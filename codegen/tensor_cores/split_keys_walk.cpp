#include "codegen/tensor_cores/split_keys_attention.h"

namespace attune::tensor_cores {

using mlir::Value;

Values SplitKeysAttention::packed_round(const Round& round) {
  Values all{round.slot};
  for (const NextBlock& block : round.blocks) all.append({block.number, block.is_visible});
  all.append(round.state);
  return all;
}
SplitKeysAttention::Round SplitKeysAttention::unpacked_round(const Values& all, Round like) {
  const auto* next = all.begin();
  like.slot = *next++;
  for (NextBlock& block : like.blocks) block = {next[0], next[1]}, next += 2;
  like.state.assign(next, all.end());
  return like;
}

AttentionBuilder::NextBlock SplitKeysAttention::block_behind(Value block) { return next_block(code_.add(block, step_), step_); }

void SplitKeysAttention::copy(const Round& round, int number) const {
  const NextBlock& block = round.blocks[static_cast<std::size_t>(number / 2)];
  const bool is_of_keys = number % 2 == 0;
  const Operand& operand = is_of_keys ? stage_.key : stage_.value;
  code_.when(code_.less(block.number, blocks_), [&] {
    load(slot_tile(behind_slot(round.slot, number), is_of_keys ? depth_ : value_columns_), operand, key_rows(operand, block.number),
         is_of_keys ? stage_.depth : stage_.value_columns, {lane_, 32});
  });
  if (is_aligned_) code_.end_copies();
}

void SplitKeysAttention::arrive() const {
  if (is_aligned_) code_.wait_for_copies(split_tiles_.stages - 2);
  code_.warp_barrier();
}

Values SplitKeysAttention::walk() {
  const int stages = split_tiles_.stages;
  load(queries_tile(), stage_.query, query_rows(), stage_.depth, {thread_, split_tiles_.block_threads()});
  if (is_aligned_) code_.end_copies();
  Round round{code_.number(0), {next_block(code_.add(code_.multiply(split_, split_tiles_.key_warps), warp_), step_)}, start()};
  for (int ahead = 0; ahead < stages / 2; ++ahead) round.blocks.push_back(block_behind(round.blocks.back().number));
  for (int number = 0; number < stages - 1; ++number) copy(round, number);
  if (is_aligned_) code_.wait_for_copies(stages - 1);
  code_.barrier();
  keep_queries(queries_tile());
  code_.barrier();
  const Values end = code_.loop(
      packed_round(round), [&](const Values& at) { return code_.less(unpacked_round(at, round).blocks.front().number, blocks_); },
      [&](const Values& at) { return packed_round(visit(unpacked_round(at, round))); });
  return unpacked_round(end, round).state;
}

SplitKeysAttention::Round SplitKeysAttention::visit(Round round) {
  const NextBlock block = round.blocks.front();
  const Value first_key = code_.multiply(block.number, tiles_.key_tile);
  arrive();
  copy(round, split_tiles_.stages - 1);
  Scores scores = products(queries_tile(), slot_tile(round.slot, depth_));
  change(scores, first_key);
  hide(scores, block);
  for (int m = 0; m < m_; ++m) shrink(round.state, m, weigh(scores[static_cast<std::size_t>(m)], m, first_key, round.state));
  arrive();
  copy(round, split_tiles_.stages);
  add_values(scores, slot_tile(behind_slot(round.slot, 1), value_columns_), round.state);
  round.slot = behind_slot(round.slot, 2);
  round.blocks.push_back(block_behind(round.blocks.back().number));
  round.blocks.erase(round.blocks.begin());
  return round;
}

}  // namespace attune::tensor_cores
