#include "codegen/tensor_cores/gemm_kernel.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <algorithm>

#include "codegen/tensor_cores/gemm_builder.h"

namespace attune::tensor_cores {

using mlir::Value;

int GemmTiles::shared_bytes(const GemmStage& stage) const {
  return stages * over_chunk(stage) * (row_tile * element_bytes(stage.a.element) + column_tile * element_bytes(stage.b.element));
}

GemmBuilder::GemmBuilder(const KernelFunction& function, const KernelSteps& plan, const Step& step, const GemmStage& stage, const GemmTiles& tiles,
                         bool is_aligned)
    : builder_(function.builder),
      code_(function.builder),
      stage_(stage),
      tiles_(tiles),
      is_aligned_(is_aligned),
      chunk_(GemmTiles::over_chunk(stage)),
      tensors_(function, plan, step, stage),
      shared_(function.shared) {}

void GemmBuilder::run() {
  find_place();
  const Code::Values sums = walk();
  store(stage_.is_split() ? walk_again_with_care(sums) : sums);
}

void GemmBuilder::find_place() {
  thread_ = mlir::NVVM::ThreadIdXOp::create(builder_, builder_.getI32Type());
  lane_ = code_.remainder(thread_, 32);
  warp_ = code_.divide(thread_, 32);
  const int warps_along_columns = tiles_.column_tile / tiles_.warp_columns;
  Value rest = mlir::NVVM::BlockIdXOp::create(builder_, builder_.getI32Type());
  const auto take = [&](Value count) {
    const Value index = code_.remainder(rest, count);
    rest = code_.divide(rest, count);
    return index;
  };
  const Value column = code_.multiply(take(tensors_.columns().tiles(tiles_.column_tile)), tiles_.column_tile);
  const Value row = code_.multiply(take(tensors_.rows().tiles(tiles_.row_tile)), tiles_.row_tile);
  a_.emplace(Side{tensors_.a(), tiles_.row_tile, row, code_.multiply(code_.divide(warp_, warps_along_columns), tiles_.warp_rows)});
  b_.emplace(Side{tensors_.b(), tiles_.column_tile, column, code_.multiply(code_.remainder(warp_, warps_along_columns), tiles_.warp_columns)});
  tensors_.take_product(rest);
}

// --- operands ---

Value GemmBuilder::tile_place(const Side& side, Value stage) const {
  const int first_bytes = tiles_.row_tile * chunk_ * element_bytes(stage_.a.element), bytes = tiles_.shared_bytes(stage_) / tiles_.stages;
  return code_.behind(code_.behind(shared_, code_.multiply(stage, bytes)), &side.operand == &stage_.a ? 0 : first_bytes);
}
SharedTile GemmBuilder::tile(const Side& side, Value place) const {
  return side.is_by_own ? SharedTile(code_, side.operand.element, place, chunk_, side.tile, side.tile)
                        : SharedTile(code_, side.operand.element, place, side.tile, chunk_, chunk_);
}

void GemmBuilder::load(Value number, Value stage) const {
  // Beside the parts of operands no addresses stay in registers from chunk to chunk.
  const Value thread = stage_.is_split() ? code_.read_anew("%tid.x") : thread_;
  for (const Side& side : {*a_, *b_})
    tensors_.load(tile(side, tile_place(side, stage)), side, side.first, code_.multiply(number, chunk_), thread, tiles_.threads(),
                  is_aligned_ ? GemmTensors::Loads::of_chunks : GemmTensors::Loads::of_elements);
  if (is_aligned_) code_.end_copies();
}

// --- sums ---

Code::Values GemmBuilder::walk() const {
  const Value chunks = tensors_.over().tiles(chunk_);
  for (int ahead = 0; ahead + 1 < tiles_.stages; ++ahead) load(code_.number(ahead), code_.number(ahead));
  Code::Values start{code_.number(0)};
  start.resize(1 + sum_at(row_fragments(), 0), code_.real(0));
  const auto goes_on = [&](const Code::Values& at) { return code_.less(at[0], chunks); };
  Code::Values end = code_.loop(start, goes_on, [&](const Code::Values& at) {
    if (is_aligned_) code_.wait_for_copies(tiles_.stages - 2);
    code_.barrier();
    const Value next = code_.add(at[0], tiles_.stages - 1);
    load(next, code_.remainder(next, tiles_.stages));
    Code::Values sums(at.begin() + 1, at.end());
    const Value stage = code_.remainder(at[0], tiles_.stages);
    stage_.is_split() ? multiply_split(stage, sums) : multiply(stage, sums);
    sums.insert(sums.begin(), code_.add(at[0], 1));
    return sums;
  });
  if (is_aligned_) code_.wait_for_copies(0);
  return {end.begin() + 1, end.end()};
}

void GemmBuilder::multiply(Value stage, Code::Values& sums) const {
  const SharedTile a = tile(*a_, tile_place(*a_, stage)), b = tile(*b_, tile_place(*b_, stage));
  const Value none = code_.number(0);
  for (int k = 0; k < chunk_; k += fragment) {
    std::vector<std::array<Value, 4>> first, second;
    for (int m = 0; m < tiles_.warp_rows; m += fragment)
      first.push_back(a_->is_by_own ? a.first_operand_by_columns(none, k, a_->warp_first, m, lane_)
                                    : a.first_operand(a_->warp_first, m, none, k, lane_));
    for (int n = 0; n < tiles_.warp_columns; n += fragment)
      second.push_back(b_->is_by_own ? b.second_operands(none, k, b_->warp_first, n, lane_)
                                     : b.second_operands_by_columns(b_->warp_first, n, none, k, lane_));
    for (int m = 0; m < row_fragments(); ++m)
      for (int n = 0; n < column_blocks(); ++n) {
        const std::size_t at = sum_at(m, n), half = static_cast<std::size_t>(n % 2);
        const std::array<Value, 4>& of = second[static_cast<std::size_t>(n / 2)];
        const Sums product = multiplied(code_, stage_.a.element, first[static_cast<std::size_t>(m)], {of[2 * half], of[2 * half + 1]},
                                        {sums[at], sums[at + 1], sums[at + 2], sums[at + 3]});
        std::copy(product.begin(), product.end(), sums.begin() + static_cast<std::ptrdiff_t>(at));
      }
  }
}

// --- results ---

Value GemmBuilder::own_place(const Side& side, int line, Value position) const {
  const Value own = is_by_groups(side) ? code_.add(code_.multiply(position, 4), line / 4 * 4 * column_block + line % 4)
                                       : code_.add(position, line * column_block);
  return code_.add(code_.add(side.first, side.warp_first), own);
}

std::vector<GemmBuilder::Run> GemmBuilder::runs() const {
  std::vector<Run> runs;
  for (int n = 0; n < column_blocks(); n += is_by_groups(*b_) ? 4 : 1) {
    runs.push_back({n, 0});
    if (is_by_groups(*b_)) runs.push_back({n, 1});
  }
  return runs;
}

void GemmBuilder::store(const Code::Values& sums) const {
  const Value has_runs = tensors_.has_runs(run_width());
  code_.when(has_runs, [&] { store(sums, true); });
  code_.when(code_.exclusive_or(has_runs, Emitted::boolean(builder_, true).value), [&] { store(sums, false); });
}

void GemmBuilder::store(const Code::Values& sums, bool is_at_once) const {
  for (int line = 0; line < 2 * row_fragments(); ++line) {
    const Value row = own_place(*a_, line, code_.divide(lane_, 4));
    code_.when(code_.less(row, tensors_.rows().size()), [&] {
      for (const Run& run : runs()) store(row, sums, line, run, is_at_once);
    });
  }
}

void GemmBuilder::store(Value row, const Code::Values& sums, int line, const Run& run, bool is_at_once) const {
  const Value column = own_place(*b_, run.block, code_.add(code_.multiply(code_.remainder(lane_, 4), 2), run.column));
  Code::Values side_by_side;
  for (int i = 0; i < run_width(); ++i) {
    const int block = is_by_groups(*b_) ? run.block + i : run.block, own = is_by_groups(*b_) ? run.column : i;
    side_by_side.push_back(sums[sum_at(line / 2, block) + static_cast<std::size_t>(2 * (line % 2) + own)]);
  }
  const auto when_there = [&](Value of, const std::function<void()>& body) { code_.when(code_.less(of, tensors_.columns().size()), body); };
  if (is_at_once) return when_there(column, [&] { tensors_.store(row, column, side_by_side); });
  for (int i = 0; i < run_width(); ++i) {
    const Value of = code_.add(column, i);
    when_there(of, [&] { tensors_.store(row, of, side_by_side[static_cast<std::size_t>(i)]); });
  }
}

void build_gemm(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const GemmStage& stage, const GemmTiles& tiles,
                bool is_aligned) {
  build_kernel(builder, name, plan, step, {tiles.threads(), tiles.shared_bytes(stage)},
               [&](const KernelFunction& function) { GemmBuilder(function, plan, step, stage, tiles, is_aligned).run(); });
}

}  // namespace attune::tensor_cores
