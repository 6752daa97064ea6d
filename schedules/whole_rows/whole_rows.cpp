#include "schedules/whole_rows/whole_rows.h"

#include <algorithm>
#include <limits>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/records/tuned.h"
#include "schedules/whole_rows/whole_rows_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace attune {
namespace {

constexpr std::string_view name = "whole_rows";
constexpr float lowest = std::numeric_limits<float>::lowest();

}  // namespace

WholeRowsStage::WholeRowsStage(const OnlineSoftmax& body, const Extents& extents, const WholeRowsTiles& tiles)
    : body_(body),
      extents_(extents),
      tiles_(tiles),
      keys_(extents.at(body.keys)),
      depth_(extents.at(body.value_depth)),
      batch_(vars_of(body.batch, body.batch)),
      over_is_whole_(!body.over.empty() && fixed_value(extents.at(body.over.back()) % tiles.lanes) == 0),
      query_(body.queries),
      across_(0, tiles.lanes, "across"),
      stored_rows_(body) {}

Exprs WholeRowsStage::per_row(Exprs inner) const { return joined(joined(std::move(inner), {query_}), batch_); }

/// Those of the batch and of the query.
Coordinates WholeRowsStage::row_coordinates() const {
  Coordinates at = vars_at(body_.batch);
  at[body_.queries] = query_;
  return at;
}

/// With that of a key; the last one instead of any beyond it.
Coordinates WholeRowsStage::key_coordinates() const {
  Coordinates at = row_coordinates();
  at[body_.keys] = clamped(key_, keys_, true);
  return at;
}

/// Once for all keys; lanes beyond the contracted dim repeat its last element.
void WholeRowsStage::define_query() {
  if (body_.score || body_.over.empty() || !body_.query) return;
  const std::string& last = body_.over.back();
  const Exprs over = vars_of(body_.over, body_.over);
  Coordinates at = row_coordinates();
  place_over(body_, over, at);
  const Expr index = Var(last) * tiles_.lanes + lane_;
  at[last] = over_is_whole_ ? index : min(likely(index), extents_.at(last) - 1);
  query_row_(per_row(joined({lane_}, over))) = query_of_product(body_, at);
}

/// A term of the sum over body.over, at `over` and lane_ of a vector along its last dim; 0 beyond the end of a last vector.
Expr WholeRowsStage::term(const RDom& over, const Expr& last_vector, bool is_whole) const {
  Coordinates at = row_coordinates();
  at[body_.keys] = clamped(key_, keys_, false);
  Exprs indices = {last_vector};
  for (int n = 1; n < over.dimensions(); ++n) indices.emplace_back(over[n]);
  place_over(body_, indices, at);
  const std::string& last = body_.over.back();
  const Expr index = last_vector * tiles_.lanes + lane_;
  at[last] = is_whole ? index : min(index, extents_.at(last) - 1);
  Expr query, key;
  if (body_.query) query = query_row_(per_row(joined({lane_}, indices)));
  if (body_.key) key = body_.key.at(at);
  const Expr term = score_term(body_, query, key, at);
  return is_whole ? term : select(index < extents_.at(last), term, 0.f);
}

/// Sums along the last dim of body.over by lane: whole vectors, then a last one that is not; and over the lanes.
void WholeRowsStage::define_product() {
  const Expr extent = extents_.at(body_.over.back()), whole = extent / tiles_.lanes;
  Halide::Region ranges;
  for (auto dim = body_.over.rbegin(); dim != body_.over.rend(); ++dim) ranges.emplace_back(0, extents_.at(*dim));
  product_(per_row({lane_, key_})) = 0.f;
  const auto add = [&](const char* name, const Expr& first, const Expr& count, bool is_whole) {
    ranges[0].extent = Halide::Internal::simplify(count);
    if (is_const_zero(ranges[0].extent)) return;
    const RDom& over = overs_.emplace_back(ranges, name);
    product_(per_row({lane_, key_})) += term(over, first + over[0], is_whole);
  };
  add("over", 0, whole, true);
  add("over_tail", whole, tiles_of(extent, tiles_.lanes) - whole, false);
  product_sum_(per_row({key_})) = 0.f;
  product_sum_(per_row({key_})) += product_(per_row({across_.x, key_}));
  if (body_.change) unchanged_(per_row({key_})) = product_sum_(per_row({key_}));
}

void WholeRowsStage::define_scores() {
  const Coordinates at = key_coordinates();
  const auto product = [&]() -> Expr {
    define_product();
    return body_.change ? unchanged_(per_row({key_})) : product_sum_(per_row({key_}));
  };
  const Expr score = changed_score(body_, raw_score(body_, at, product), at, is_base_2(body_));
  scores_(per_row({key_})) = select(unlifted_condition(is_seen(body_, at, key_ < keys_)), score, hidden_score(body_));
}

void WholeRowsStage::define_weights() {
  key_vectors_ = RDom(0, tiles_of(keys_, tiles_.lanes), "key_vectors");
  const Exprs lane_of_vector = per_row({key_vectors_.x * tiles_.lanes + lane_});
  if (body_.has_softmax) define_powers(lane_of_vector);
  if (body_.weight) changed_weights_(per_row({key_})) = body_.weight(weights()(per_row({key_})), key_coordinates());
  if (!keeps_total(body_)) return;
  total_by_lane_(per_row({lane_})) = total_of_nothing(body_);
  total_by_lane_(per_row({lane_})) = folded(body_, total_by_lane_(per_row({lane_})), term_of_total(body_, weights()(lane_of_vector)));
  define_total();
  if (stored_rows_.are_wanted()) {
    const Expr greatest = body_.has_softmax ? maximum_(per_row({})) * ln_2 : Expr(0.f);
    kept_total_(per_row({})) = stored_rows_.storing(total_(per_row({})), greatest, greatest, row_coordinates());
  }
  if (!body_.has_softmax) return;
  scale_(per_row({})) = 1.f / (kept_total_.defined() ? kept_total_(per_row({})) : total_(per_row({})));
}

/// Only sums are reductions that Halide knows by their form.
void WholeRowsStage::define_total() {
  if (body_.fold == OnlineSoftmax::Fold::maximum) {
    total_(per_row({})) = folded_lanes(body_, tiles_.lanes, [&](int lane) { return Expr(total_by_lane_(per_row({lane}))); });
    return;
  }
  total_(per_row({})) = 0.f;
  total_(per_row({})) += total_by_lane_(per_row({across_.x}));
}

/// The maximum is that of numbers: a NaN that it leaves out is one among the weights.
void WholeRowsStage::define_powers(const Exprs& lane_of_vector) {
  maximum_by_lane_(per_row({lane_})) = lowest;
  maximum_by_lane_(per_row({lane_})) = max(maximum_by_lane_(per_row({lane_})), scores_(lane_of_vector));
  // Halves, because a reduction to one number goes lane by lane, each waiting for the last.
  across_half_ = RDom(0, tiles_.lanes / 2, "across_half");
  maximum_by_half_(per_row({half_})) = lowest;
  const Expr by_lane = maximum_by_lane_(per_row({half_ * (tiles_.lanes / 2) + across_half_.x}));
  maximum_by_half_(per_row({half_})) = max(maximum_by_half_(per_row({half_})), by_lane);
  maximum_(per_row({})) = max(maximum_by_half_(per_row({0})), maximum_by_half_(per_row({1})));
  weights_(per_row({key_})) = softmax_exp2(scores_(per_row({key_})) - maximum_(per_row({})), least_weight);
}

Expr WholeRowsStage::value_at(const Expr& vector, const Expr& key, bool is_whole) const {
  Coordinates at = row_coordinates();
  const Expr depth = vector * tiles_.lanes + lane_;
  at[body_.value_depth] = is_whole ? depth : min(depth, depth_ - 1);
  at[body_.keys] = key;
  return body_.value.at(at);
}

/// Whole groups of register_vectors vectors first, then the whole vectors that are left, then a last one that is not. Keys beyond the last
/// one are not summed: the last one's value in their stead may be infinite, times a weight of 0.
void WholeRowsStage::define_sum() {
  const Func weights = body_.weight ? changed_weights_ : this->weights();
  const Expr vectors = Halide::Internal::simplify(depth_ / tiles_.lanes);
  const int group = std::min(tiles_.vectors, std::max(fixed_value(vectors).value_or(tiles_.vectors), 1)), lanes = tiles_.lanes;
  const auto add = [&](const Expr& vector, const Expr& key, bool is_whole) {
    sum_(per_row({lane_, vector})) += weights(per_row({key})) * value_at(vector, key, is_whole);
  };
  sum_(per_row({lane_, vector_})) = 0.f;
  const auto add_rest = [&](const char* name, const Expr& first, const Expr& count, bool is_whole) {
    const RDom& rest = rests_.emplace_back(Halide::Region{{0, keys_}, {0, Halide::Internal::simplify(count)}}, name);
    add(first + rest[1], rest[0], is_whole);
  };
  if (fixed_value(vectors) != 0) {
    whole_ = RDom({{0, group}, {0, keys_}, {0, vectors / group}}, "whole");
    add(whole_[2] * group + whole_[0], whole_[1], true);
  }
  if (fixed_value(vectors % group) != 0) add_rest("rest", vectors / group * group, vectors % group, true);
  if (fixed_value(depth_ % lanes) != 0) add_rest("tail", vectors, tiles_of(depth_, lanes) - vectors, false);
}

void WholeRowsStage::define_out() {
  const Var depth(body_.value_depth);
  Coordinates at = row_coordinates();
  at[body_.value_depth] = depth;
  const bool is_read_of_kept = kept_total_.defined() && (!body_.has_softmax || body_.is_of_rows);  // else the scale reads it
  const Func& totals = is_read_of_kept ? kept_total_ : total_;
  const Expr total = keeps_total(body_) ? Expr(totals(per_row({}))) : Expr(), sum = sum_(per_row({depth % tiles_.lanes, depth / tiles_.lanes}));
  const Expr divided = body_.has_softmax ? select(strict_equal(total, 0.f), 0.f, sum * scale_(per_row({}))) : sum;
  const Expr reference = body_.has_softmax ? Expr(maximum_(per_row({}))) : Expr(0.f);
  const Expr result = body_.is_of_rows ? number_of_row(body_, total, reference) : divided;
  out_(vars_of(body_.out, body_.out)) = finished(body_, result, total, at);
}

Stored WholeRowsStage::build() {
  define_query();
  define_scores();
  define_weights();
  define_sum();
  define_out();
  schedule_out();
  schedule_scores();
  schedule_weights();
  schedule_sum();
  return {out_, body_.out, stored_rows_.results()};
}

std::vector<Parameter> whole_rows_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(name, machine, size,
                       {{"register_rows", {1, 2, 4, 8}}, {"register_keys", {2, 4, 8, 16}}, {"register_vectors", {1, 2, 4, 8}}});
}

BlockSizes whole_rows_blocks(const std::vector<Parameter>&) { return {}; }

Stored whole_rows(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  const std::vector<Parameter> declared = whole_rows_parameters(machine, SizeClass::tiny);
  if (const std::string problem = parameter_problem(name, declared, values); !problem.empty()) throw Halide::CompileError(problem);
  const std::vector<Parameter> all = with_values(declared, values);
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(all, name)); };
  return WholeRowsStage(body, extents,
                        {machine.vector_bytes / 4, value("register_rows"), value("register_keys"), value("register_vectors")})
      .build();
}

}  // namespace attune
