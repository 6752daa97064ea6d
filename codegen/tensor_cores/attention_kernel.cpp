#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <limits>

#include "codegen/tensor_cores/warp_attention.h"

namespace attune::tensor_cores {

using mlir::Value;

void WarpAttention::run() {
  find_place();
  load_queries();
  const Values state = walk_all();
  store(is_split() ? walk_again_with_care(state) : state);
}

Values WarpAttention::walk_all() {
  const NextBlock first = next_block(code_.number(0));
  code_.when(code_.less(first.number, blocks_), [&] { load_keys(first.number); });
  return walk(first);
}

void WarpAttention::load_queries() {
  load(queries_tile(), stage_.query, query_rows(), stage_.depth, all_threads());
  arrive();
  if (!tiles_.keeps_queries) return;
  keep_queries(queries_tile());
  code_.barrier();
}

void WarpAttention::arrive() {
  if (is_aligned_) {
    code_.end_copies();
    code_.wait_for_copies();
  }
  code_.barrier();
}

Values WarpAttention::walk(const NextBlock& first) {
  Values start{first.number, first.is_visible};
  for (int row = 0; row < 2 * m_; ++row) start.push_back(code_.real(-std::numeric_limits<double>::infinity()));
  start.resize(2 + state_size(), code_.real(0));
  const Values end = code_.loop(
      start, [&](const Values& at) { return code_.less(at[0], blocks_); },
      [&](const Values& at) {
        return visit({at[0], at[1]}, Values(llvm::drop_begin(at, 2)));
      });
  return Values(llvm::drop_begin(end, 2));
}

Values WarpAttention::visit(const NextBlock& block, Values state) {
  const Value first_key = code_.multiply(block.number, tiles_.key_tile);
  arrive();
  load_values(block.number);
  if (is_aligned_) code_.end_copies();
  Scores scores = products(queries_tile(), keys_tile());
  const NextBlock next = next_block(code_.add(block.number, 1));
  if (is_aligned_) code_.wait_for_copies();
  code_.barrier();
  code_.when(code_.less(next.number, blocks_), [&] { load_keys(next.number); });
  if (is_split() && !is_careful_ && !has_factor_in_base()) keep_nan(scores, state);
  change(scores, first_key);
  hide(scores, block);
  for (int m = 0; m < m_; ++m) shrink(state, m, weigh(scores[static_cast<std::size_t>(m)], m, first_key, state));
  add_values(scores, values_tile(), state);
  state.insert(state.begin(), {next.number, next.is_visible});
  return state;
}

int row_pitch(Element element, std::int64_t columns) {
  const int line = line_bytes / element_bytes(element);
  return static_cast<int>((columns + line - 1) / line * line);
}

int shared_bytes(const AttentionTiles& tiles, const AttentionStage& stage) {
  const int key_pitch = row_pitch(stage.element, stage.depth), value_pitch = row_pitch(stage.element, stage.value_columns);
  const int queries = tiles.query_tile * key_pitch, others = tiles.key_tile * (key_pitch + value_pitch);
  return element_bytes(stage.element) * (tiles.keeps_queries ? std::max(queries, others) : queries + others);
}

void build_attention(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                     const AttentionTiles& tiles, bool is_aligned) {
  const BlockNeeds needs{tiles.threads(), shared_bytes(tiles, stage), false, tiles.resident_blocks};
  build_kernel(builder, name, plan, step, needs,
               [&](const KernelFunction& function) { WarpAttention(function, plan, step, stage, tiles, is_aligned).run(); });
}

}  // namespace attune::tensor_cores
