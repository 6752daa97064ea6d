#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

#include <limits>

#include "codegen/tensor_cores/warpgroup_attention_builder.h"

namespace attune::tensor_cores {

using mlir::Value;

Values WarpgroupAttention::packed_round(const Round& round) {
  Values all{round.slot};
  for (const NextBlock& block : round.blocks) all.append({block.number, block.is_visible});
  for (const Values* values : {&round.weights, &round.shrinks, &round.scores, &round.state}) all.append(*values);
  return all;
}
WarpgroupAttention::Round WarpgroupAttention::unpacked_round(const Values& all, Round like) {
  const auto* next = all.begin();
  like.slot = *next++;
  for (NextBlock& block : like.blocks) block = {next[0], next[1]}, next += 2;
  for (Values* values : {&like.weights, &like.shrinks, &like.scores, &like.state})
    for (Value& value : *values) value = *next++;
  return like;
}
WarpgroupAttention::Round WarpgroupAttention::in_rounds(const Round& first, std::size_t place, Round (WarpgroupAttention::*visit)(Round)) {
  const Values end = code_.loop(
      packed_round(first), [&](const Values& at) { return code_.less(unpacked_round(at, first).blocks[place].number, blocks_); },
      [&](const Values& at) { return packed_round((this->*visit)(unpacked_round(at, first))); });
  return unpacked_round(end, first);
}

Values WarpgroupAttention::start() const {
  Values state(2, code_.real(-std::numeric_limits<double>::infinity()));
  state.resize(state_size(), code_.real(0));
  return state;
}

Values WarpgroupAttention::walk(const NextBlock& first) {
  Round round{code_.number(0), {}, {}, {}, {}, start()};
  load_panels(shared_, tiles_.query_tile, stage_.query, query_rows(), stage_.depth);
  copy_keys(first, round.slot);
  code_.end_copies();
  NextBlock before = first;
  for (int i = 1; i <= ahead_; ++i) {
    copy_values(before, code_.number(i - 1));
    before = next_block(code_.add(before.number, 1));
    copy_keys(before, code_.number(i));
    code_.end_copies();
    round.blocks.push_back(before);
  }
  arrive(ahead_);
  if (has_query_registers_) load_query_words();
  const Values scores = wait_for_products(code_, 0, begin_scores(round.slot));
  const auto before_others = [&] { return walk_before(round, first, scores); };
  if (!has_turns_) return before_others();
  return code_.either(code_.less(code_.remainder(warpgroup_, 2), code_.number(1)), before_others,
                [&] { return walk_behind(round, first, scores); });
}

Values WarpgroupAttention::walk_before(Round round, const NextBlock& first, const Values& scores) {
  round.weights = packed_weights(weigh_block(scores, first, round));
  round = in_rounds(round, 0, &WarpgroupAttention::visit_before);
  return add_last_values(round);
}

WarpgroupAttention::Round WarpgroupAttention::visit_before(Round round) {
  const NextBlock block = round.blocks.front(), found = next_block(code_.add(round.blocks.back().number, 1));
  arrive(ahead_ - 1);
  const WarpgroupSums products = begin_scores(behind_slot(round.slot, 1));
  shrink_sums(round);
  begin_values(round.slot, round.weights, round.state);
  copy(round, found);
  const std::vector<Sums> weights = weigh_block(wait_for_products(code_, 1, products), block, round);
  keep_before_wait(round);
  end_values(round.weights, round.state);
  round.weights = packed_weights(weights);
  step(round, found);
  return round;
}

Values WarpgroupAttention::walk_behind(Round round, const NextBlock& first, const Values& scores) {
  round.blocks.insert(round.blocks.begin(), first);
  round.scores = scores;
  if (is_late_) arrive(ahead_ - 1);
  round = in_rounds(round, 1, &WarpgroupAttention::visit_behind);
  round.weights = packed_weights(weigh_block(round.scores, round.blocks.front(), round));
  return add_last_values(round, !is_late_);
}

WarpgroupAttention::Round WarpgroupAttention::visit_behind(Round round) {
  const NextBlock found = next_block(code_.add(round.blocks.back().number, 1));
  if (!is_late_) arrive(ahead_ - 1);
  copy(round, found);
  round.weights = packed_weights(weigh_block(round.scores, round.blocks.front(), round));
  const WarpgroupSums products = begin_scores(behind_slot(round.slot, 1));
  shrink_sums(round);
  begin_values(round.slot, round.weights, round.state);
  if (is_late_) arrive(ahead_ - 1);
  end_values(round.weights, round.state);
  round.scores = wait_for_products(code_, 0, products);
  round.weights.clear();
  round.shrinks.clear();
  step(round, found);
  return round;
}

Values WarpgroupAttention::add_last_values(Round& round, bool is_to_arrive) {
  if (is_to_arrive) arrive(0);
  shrink_sums(round);
  begin_values(round.slot, round.weights, round.state);
  end_values(round.weights, round.state);
  return round.state;
}

std::vector<Sums> WarpgroupAttention::weigh_block(const WarpgroupSums& products, const NextBlock& block, Round& round) {
  const Value first_key = code_.multiply(block.number, tiles_.key_tile);
  Scores scores{in_blocks(products)};
  change(scores, first_key);
  hide(scores, block);
  const std::array<Value, 2> shrinks = weigh(scores[0], 0, first_key, round.state);
  round.shrinks.assign(shrinks.begin(), shrinks.end());
  return scores[0];
}
Values WarpgroupAttention::packed_weights(const std::vector<Sums>& weights) const {
  Values all;
  for (int key = 0; key < tiles_.key_tile; key += fragment) {
    const std::array<Value, 4> own = first_operand(weights, key);
    all.append(own.begin(), own.end());
  }
  return all;
}

void WarpgroupAttention::shrink_sums(Round& round) const {
  const auto shrinks = [&](Value by) {
    return builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNE, by, code_.real(1));
  };
  const Value is_needed =
      code_.in_any_lane(builder_.createOrFold<mlir::arith::OrIOp>(shrinks(round.shrinks[0]), shrinks(round.shrinks[1])));
  round.state = code_.either(
      is_needed,
      [&] {
        Values shrunk = round.state;
        shrink(shrunk, 0, {round.shrinks[0], round.shrinks[1]});
        return shrunk;
      },
      [&] { return round.state; });
}

void WarpgroupAttention::keep_before_wait(const Round& round) const {
  const Value sum = code_.add(round.state[total_at(0, 0)], round.state[total_at(0, 1)]);
  code_.when(builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OLT, sum, code_.real(0)),
             [&] { mlir::LLVM::Trap::create(builder_); });
}

void WarpgroupAttention::copy(const Round& round, const NextBlock& found) const {
  copy_keys(found, behind_slot(round.slot, ahead_ + 1));
  copy_values(round.blocks.back(), behind_slot(round.slot, ahead_));
  code_.end_copies();
}
void WarpgroupAttention::step(Round& round, const NextBlock& found) const {
  round.slot = behind_slot(round.slot, 1);
  round.blocks.erase(round.blocks.begin());
  round.blocks.push_back(found);
}

}  // namespace attune::tensor_cores
