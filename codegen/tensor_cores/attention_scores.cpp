#include <mlir/Dialect/Arith/IR/Arith.h>

#include <limits>

#include "codegen/tensor_cores/attention_builder.h"

namespace attune::tensor_cores {

using mlir::Value;

namespace {
Values flattened(const Scores& scores) {
  Values all;
  for (const auto& row : scores)
    for (const Sums& sums : row) all.append(sums.begin(), sums.end());
  return all;
}
void replace(Scores& scores, const Values& by) {
  auto next = by.begin();
  for (auto& row : scores)
    for (Sums& sums : row)
      for (Value& score : sums) score = *next++;
}
}  // namespace

Interval<Emitted> AttentionBuilder::visibility(Value block) {
  Interval<Emitted> all{Emitted::boolean(builder_, true), Emitted::boolean(builder_, true)};
  if (stage_.masks.empty()) return all;
  Block box;
  for (const auto& [dim, at] : batch_) box.insert_or_assign(dim, Span{at, at});
  const auto last = [&](Value first, int size, Value extent) {
    return index(builder_.createOrFold<mlir::arith::MinSIOp>(code_.add(first, size - 1), code_.add(extent, -1)));
  };
  first_key_ = code_.multiply(block, tiles_.key_tile);
  for (const std::string& dim : row_dims_) box.insert_or_assign(dim, Span{index(code_.number(0)), index(code_.add(extent(dim).value, -1))});
  box.insert_or_assign(stage_.queries, Span{index(first_query_), last(first_query_, tiles_.query_tile, extent(stage_.queries).value)});
  box.insert_or_assign(stage_.keys, Span{index(first_key_), last(first_key_, tiles_.key_tile, keys_)});
  for (const MaskPredicate& mask : stage_.masks) {
    const Interval<Emitted> holds = graph_.over(mask.node, box);
    all = all && (mask.is_hiding ? !holds : holds);
  }
  return all;
}

std::optional<Interval<Emitted>> AttentionBuilder::range_of(std::string_view label, const Block& block) {
  const std::vector<std::string>& dims = arguments_.dims_of(label);
  Coordinates at;
  std::string along;
  for (const std::string& dim : dims) {
    const Span& span = block.find(dim)->second;
    at.insert_or_assign(dim, span.first);
    if (span.first.value == span.last.value) continue;
    if (!along.empty()) return std::nullopt;
    along = dim;
  }
  const Value first = at.find(along)->second.value;
  const bool is_of_queries = first == first_query_;
  if (arguments_.is_real(label) || (!is_of_queries && first != first_key_)) return std::nullopt;
  const auto known = query_ranges_.find(std::string(label));
  if (is_of_queries && known != query_ranges_.end()) return known->second;
  const mlir::OpBuilder::InsertionGuard guard(builder_);
  if (is_of_queries) builder_.setInsertionPointAfterValue(first_query_);
  std::optional<Interval<Emitted>> range;
  const Value last = code_.add(is_of_queries ? extent(stage_.queries).value : keys_, -1);
  for (int done = 0; done < (is_of_queries ? tiles_.query_tile : tiles_.key_tile); done += 32) {
    at.insert_or_assign(along, index(builder_.createOrFold<mlir::arith::MinSIOp>(code_.add(code_.add(first, lane_), done), last)));
    const Emitted x = arguments_.load(label, at), number = x.is_boolean() ? to_i64(x) : x;
    range = range ? Interval<Emitted>{minimum(range->low, number), maximum(range->high, number)} : Interval<Emitted>::point(number);
  }
  for (int by = 1; by < 32; by *= 2) {
    const auto other = [&](const Emitted& x) { return Emitted{&builder_, code_.exchanged(x.value, by), x.range}; };
    range = Interval<Emitted>{minimum(range->low, other(range->low)), maximum(range->high, other(range->high))};
  }
  const Emitted zero = Emitted::integer(builder_, 0);
  if (arguments_.is_boolean(label)) range = Interval<Emitted>{range->low != zero, range->high != zero};
  if (is_of_queries) query_ranges_.emplace(label, *range);
  return range;
}

AttentionBuilder::NextBlock AttentionBuilder::next_block(Value from, Value step) {
  const Value yes = Emitted::boolean(builder_, true).value, no = Emitted::boolean(builder_, false).value;
  if (stage_.masks.empty()) return {from, yes};
  const auto goes_on = [&](const Values& at) { return code_.both(code_.less(at[0], blocks_), code_.select(at[2], no, yes)); };
  const Values found = code_.loop({from, no, no}, goes_on, [&](const Values& at) {
    const Interval<Emitted> shows = visibility(at[0]);
    return Values{code_.select(shows.high.value, at[0], code_.add(at[0], step)), shows.low.value, shows.high.value};
  });
  return {found[0], found[1]};
}

void AttentionBuilder::at_each(Scores& scores, Value first_key, const std::function<Value(Value score, Value key, const Coordinates& at)>& changed) {
  for (std::size_t m = 0; m < scores.size(); ++m) {
    const auto row = [&](int half) { return at_row(row_inside(row_of(static_cast<int>(m), half))); };
    std::array rows{row(0), row(1)};
    for (std::size_t block = 0; block < scores[m].size(); ++block)
      for (std::size_t i = 0; i < 4; ++i) {
        const Value key = code_.add(first_key, column_of(static_cast<int>(block), static_cast<int>(i)));
        Coordinates& at = rows[i / 2];
        at.insert_or_assign(stage_.keys, index(builder_.createOrFold<mlir::arith::MinSIOp>(key, code_.add(keys_, -1))));
        scores[m][block][i] = changed(scores[m][block][i], key, at);
      }
  }
}

void AttentionBuilder::change(Scores& scores, Value first_key) {
  if (has_factor_in_base()) return;
  if (stage_.cap >= 0) return change_through_cap(scores, first_key);
  at_each(scores, first_key, [&](Value score, Value, const Coordinates& at) {
    return graph_.at(stage_.score, at, {{stage_.product, product_of(score)}}).value;
  });
}

void AttentionBuilder::change_through_cap(Scores& scores, Value first_key) {
  const int argument = graph_.graph().node(stage_.cap).inputs[0];
  Emitted are_near = Emitted::boolean(builder_, true);
  at_each(scores, first_key, [&](Value score, Value, const Coordinates& at) {
    const Emitted x = graph_.at(argument, at, {{stage_.product, product_of(score)}});
    are_near = are_near && is_near_zero(x);
    return x.value;
  });
  const auto capped = [&](Emitted (*function)(const Emitted&)) {
    Scores changed = scores;
    at_each(changed, first_key, [&](Value x, Value, const Coordinates& at) {
      return graph_.at(stage_.score, at, {{stage_.cap, function({&builder_, x, {}})}}).value;
    });
    return flattened(changed);
  };
  replace(scores, code_.either(
                      code_.in_any_lane((!are_near).value), [&] { return capped(tanh); }, [&] { return capped(tanh_near_zero); }));
}

void AttentionBuilder::hide(Scores& scores, const NextBlock& block) {
  const Value first_key = code_.multiply(block.number, tiles_.key_tile);
  const Value is_whole = builder_.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::sle, code_.add(first_key, tiles_.key_tile), keys_);
  const auto hidden = [&] {
    Scores partly = scores;
    at_each(partly, first_key, [&](Value score, Value key, const Coordinates& at) {
      Emitted shows{&builder_, code_.less(key, keys_), {}};
      for (const MaskPredicate& mask : stage_.masks) {
        const Emitted holds = graph_.at(mask.node, at);
        shows = shows && (mask.is_hiding ? !holds : holds);
      }
      return code_.select(shows.value, score, code_.real(-std::numeric_limits<double>::infinity()));
    });
    return flattened(partly);
  };
  replace(scores, code_.either(code_.both(is_whole, block.is_visible), [&] { return flattened(scores); }, hidden));
}

}  // namespace attune::tensor_cores
