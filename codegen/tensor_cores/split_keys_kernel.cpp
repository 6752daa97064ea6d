#include "codegen/tensor_cores/split_keys_kernel.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <algorithm>

#include "codegen/tensor_cores/split_keys_attention.h"

namespace attune::tensor_cores {

using mlir::Value;

namespace {

constexpr int warp_lanes = 32;

bool has_own_keys(const AttentionStage& stage, const std::string& dim) {
  return std::ranges::find(stage.key.dims, dim) != stage.key.dims.end() || std::ranges::find(stage.value.dims, dim) != stage.value.dims.end();
}

int slot_pitch(const AttentionStage& stage) {
  return std::max(row_pitch(stage.element, stage.depth), row_pitch(stage.element, stage.value_columns));
}

Value last_argument(mlir::LLVM::LLVMFuncOp function, unsigned before) { return function.getArgument(function.getNumArguments() - 1 - before); }

}  // namespace

std::vector<std::string> dims_of_keys(const AttentionStage& stage) {
  std::vector<std::string> dims = stage.batch;
  std::erase_if(dims, [&](const std::string& dim) { return !has_own_keys(stage, dim); });
  return dims;
}

std::vector<std::string> dims_of_rows(const AttentionStage& stage) {
  std::vector<std::string> dims{stage.queries};
  for (const std::string& dim : stage.batch)
    if (!has_own_keys(stage, dim)) dims.push_back(dim);
  return dims;
}

int state_bytes(const SplitKeysTiles& tiles, const AttentionStage& stage) {
  constexpr int fragment = 16, of_two_rows = 4, element = 4;  // beside sums the greatest scores and the totals
  const int columns = static_cast<int>((stage.value_columns + fragment - 1) / fragment * fragment);
  return tiles.query_tile / fragment * (of_two_rows + columns / 2) * warp_lanes * element;
}

int shared_bytes(const SplitKeysTiles& tiles, const AttentionStage& stage) {
  const int slots = tiles.stages * tiles.key_warps * tiles.key_tile * slot_pitch(stage) * element_bytes(stage.element);
  return std::max(slots, tiles.key_warps / 2 * state_bytes(tiles, stage));
}

SplitKeysTiles merge_tiles(const SplitKeysTiles& tiles, const AttentionStage& stage) {
  constexpr int most_bytes = 48 << 10, most_warps = 8;  // whose threads have 255 registers: two states
  SplitKeysTiles of_states = tiles;
  of_states.stages = 0;
  of_states.resident_blocks = 1;
  while (of_states.key_warps < most_warps && of_states.key_warps * state_bytes(tiles, stage) <= most_bytes) of_states.key_warps *= 2;
  return of_states;
}

SplitKeysAttention::SplitKeysAttention(const KernelFunction& function, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                                       const SplitKeysTiles& tiles, bool is_aligned)
    : WarpProducts(function, plan, step, stage, tiles, is_aligned),
      split_tiles_(tiles),
      states_(last_argument(function.function, 1)),
      splits_(last_argument(function.function, 0)) {
  row_dims_ = dims_of_rows(stage);
}

void SplitKeysAttention::find_split(Value splits) {
  find_thread();
  is_careful_ = is_split();  // memory bounds this kernel, and not its instructions
  warp_ = code_.of_first_lane(warp_);
  warp_row_ = code_.number(0);
  step_ = code_.multiply(splits_, split_tiles_.key_warps);
  row_blocks_ = code_.divide(code_.add(rows_, tiles_.query_tile - 1), tiles_.query_tile);
  const Value number = mlir::NVVM::BlockIdXOp::create(builder_, builder_.getI32Type()).getRes();
  const Value row_block = code_.remainder(number, row_blocks_), rest = code_.divide(number, row_blocks_), batch = code_.divide(rest, splits);
  split_ = code_.remainder(rest, splits);
  first_state_ = code_.add(code_.multiply(code_.multiply(batch, splits_), row_blocks_), row_block);
  set_batch(dims_of_keys(stage_), batch);
  first_row_ = code_.multiply(row_block, tiles_.query_tile);
  Value sharing = code_.number(1);
  for (std::size_t d = 1; d < row_dims_.size(); ++d) sharing = code_.multiply(sharing, extent(row_dims_[d]).value);
  // Behind everything that places are made of: see range_of.
  first_query_ = row_dims_.size() == 1 ? first_row_ : code_.divide(first_row_, sharing);
}

SharedTile SplitKeysAttention::slot_tile(Value slot, int columns) const {
  const int bytes = tiles_.key_tile * slot_pitch(stage_) * element_bytes(stage_.element);
  const Value number = code_.add(code_.multiply(slot, split_tiles_.key_warps), warp_);
  return tile(code_.behind(shared_, code_.multiply(number, bytes)), tiles_.key_tile, columns);
}
// In the last slots of all warps, which the walk takes when it begins.
SharedTile SplitKeysAttention::queries_tile() const {
  const int before = (split_tiles_.stages - 1) * split_tiles_.key_warps * tiles_.key_tile * slot_pitch(stage_);
  return tile(code_.behind(shared_, before * element_bytes(stage_.element)), tiles_.query_tile, depth_);
}
Value SplitKeysAttention::behind_slot(Value slot, int by) const {
  const Value sum = code_.add(slot, by % split_tiles_.stages);
  return code_.select(code_.less(sum, code_.number(split_tiles_.stages)), sum, code_.add(sum, -split_tiles_.stages));
}

void SplitKeysAttention::run() {
  find_split(splits_);
  Values state = walk();
  merge_warps(state);
  code_.when(code_.less(warp_, code_.number(1)), [&] {
    code_.when(code_.less(splits_, code_.number(2)), [&] { store(state); });
    code_.when(code_.less(code_.number(1), splits_), [&] { store_state(state); });
  });
}

void SplitKeysAttention::merge() {
  find_split(code_.number(1));
  Values first{warp_};
  first.append(start());
  const Values all = code_.loop(
      first, [&](const Values& at) { return code_.less(at[0], splits_); },
      [&](const Values& at) {
        Values next{code_.add(at[0], split_tiles_.key_warps)};
        next.append(joined(Values(llvm::drop_begin(at)), load_state(at[0])));
        return next;
      });
  Values state(llvm::drop_begin(all));
  merge_warps(state);
  code_.when(code_.less(warp_, code_.number(1)), [&] { store(state); });
}

void build_split_keys(Builder& builder, const std::string& name, const std::string& merge, const KernelSteps& plan, const Step& step,
                      const AttentionStage& stage, const SplitKeysTiles& tiles, bool is_aligned) {
  const SplitKeysTiles of_states = merge_tiles(tiles, stage);
  const auto needs = [&](const SplitKeysTiles& own) {
    constexpr unsigned global_memory = 1;
    BlockNeeds needs{own.block_threads(), shared_bytes(own, stage), false, own.resident_blocks};
    needs.more_arguments = {mlir::LLVM::LLVMPointerType::get(builder.getContext(), global_memory), builder.getI32Type()};
    return needs;
  };
  build_kernel(builder, name, plan, step, needs(tiles),
               [&](const KernelFunction& function) { SplitKeysAttention(function, plan, step, stage, tiles, is_aligned).run(); });
  build_kernel(builder, merge, plan, step, needs(of_states),
               [&](const KernelFunction& function) { SplitKeysAttention(function, plan, step, stage, of_states, is_aligned).merge(); });
}

}  // namespace attune::tensor_cores
