#include "codegen/tensor_cores/gemm_kernel.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <algorithm>
#include <optional>

#include "codegen/tensor_cores/gemm_tensors.h"

namespace attune::tensor_cores {
namespace {

using mlir::Value;

/// An operand in shared memory: rows of the tile run along one side, its own dims or those contracted, and columns along the other.
struct Side : GemmSide {
  int tile;                 ///< of its own dims
  Value first, warp_first;  ///< of its own dims, the block's and within it the warp's
};

class GemmBuilder {
 public:
  GemmBuilder(const KernelFunction& function, const KernelSteps& plan, const Step& step, const GemmStage& stage, const GemmTiles& tiles,
              bool is_aligned)
      : builder_(function.builder),
        code_(function.builder),
        stage_(stage),
        tiles_(tiles),
        is_aligned_(is_aligned),
        tensors_(function, plan, step, stage),
        shared_(function.shared) {}

  void run() {
    find_place();
    const Code::Values sums = walk();
    store(sums);
  }

 private:
  static constexpr int fragment = 16, column_block = 8, chunk = GemmTiles::over_chunk;

  void find_place() {
    thread_ = mlir::NVVM::ThreadIdXOp::create(builder_, builder_.getI32Type());
    lane_ = code_.remainder(thread_, 32);
    const Value warp = code_.divide(thread_, 32);
    const int warps_along_columns = tiles_.column_tile / tiles_.warp_columns;
    Value rest = mlir::NVVM::BlockIdXOp::create(builder_, builder_.getI32Type());
    const auto take = [&](Value count) {
      const Value index = code_.remainder(rest, count);
      rest = code_.divide(rest, count);
      return index;
    };
    const Value column = code_.multiply(take(tensors_.columns().tiles(tiles_.column_tile)), tiles_.column_tile);
    const Value row = code_.multiply(take(tensors_.rows().tiles(tiles_.row_tile)), tiles_.row_tile);
    a_.emplace(Side{tensors_.a(), tiles_.row_tile, row, code_.multiply(code_.divide(warp, warps_along_columns), tiles_.warp_rows)});
    b_.emplace(Side{tensors_.b(), tiles_.column_tile, column, code_.multiply(code_.remainder(warp, warps_along_columns), tiles_.warp_columns)});
    tensors_.take_product(rest);
  }

  // --- operands ---

  int stage_elements() const { return (tiles_.row_tile + tiles_.column_tile) * chunk; }
  /// A side's chunk of a stage in shared memory: the first operand's stands before the second's.
  SharedTile tile(const Side& side, Value stage) const {
    const Value place = code_.behind(code_.behind(shared_, code_.multiply(stage, 2 * stage_elements())),
                                     &side.operand == &stage_.a ? 0 : 2 * tiles_.row_tile * chunk);
    return side.is_by_own ? SharedTile(code_, stage_.element, place, chunk, side.tile, side.tile)
                          : SharedTile(code_, stage_.element, place, side.tile, chunk, chunk);
  }

  /// Chunk number `number` of the contracted dims.
  void load(Value number, Value stage) const {
    for (const Side& side : {*a_, *b_})
      tensors_.load(tile(side, stage), side, side.first, code_.multiply(number, chunk), thread_, tiles_.threads(),
                    is_aligned_ ? GemmTensors::Loads::of_chunks : GemmTensors::Loads::of_elements);
    if (is_aligned_) code_.end_copies();
  }

  // --- sums ---

  int row_fragments() const { return tiles_.warp_rows / fragment; }
  int column_blocks() const { return tiles_.warp_columns / column_block; }
  std::size_t sum_at(int m, int n) const { return static_cast<std::size_t>(m * column_blocks() + n) * 4; }

  /// The stages are filled but for one; then each chunk is multiplied while the last of those that fit is copied to where the one before it stood.
  Code::Values walk() {
    const Value chunks = tensors_.over().tiles(chunk);
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
      multiply(code_.remainder(at[0], tiles_.stages), sums);
      sums.insert(sums.begin(), code_.add(at[0], 1));
      return sums;
    });
    if (is_aligned_) code_.wait_for_copies(0);
    return {end.begin() + 1, end.end()};
  }

  void multiply(Value stage, Code::Values& sums) const {
    const SharedTile a = tile(*a_, stage), b = tile(*b_, stage);
    const Value none = code_.number(0);
    for (int k = 0; k < chunk; k += fragment) {
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
          const Sums product = multiplied(code_, stage_.element, first[static_cast<std::size_t>(m)], {of[2 * half], of[2 * half + 1]},
                                          {sums[at], sums[at + 1], sums[at + 2], sums[at + 3]});
          std::copy(product.begin(), product.end(), sums.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
  }

  // --- results ---

  void store(const Code::Values& sums) const {
    for (int m = 0; m < row_fragments(); ++m)
      for (int half = 0; half < 2; ++half) {
        const Value row = code_.add(code_.add(code_.add(a_->first, a_->warp_first), code_.divide(lane_, 4)), m * fragment + half * column_block);
        code_.when(code_.less(row, tensors_.rows().size()), [&] {
          for (int n = 0; n < column_blocks(); ++n)
            for (int i = 0; i < 2; ++i) {
              const Value column =
                  code_.add(code_.add(code_.add(b_->first, b_->warp_first), code_.multiply(code_.remainder(lane_, 4), 2)), n * column_block + i);
              code_.when(code_.less(column, tensors_.columns().size()),
                         [&] { tensors_.store(row, column, sums[sum_at(m, n) + static_cast<std::size_t>(2 * half + i)]); });
            }
        });
      }
  }
  Builder& builder_;
  const Code code_;
  const GemmStage& stage_;
  const GemmTiles& tiles_;
  const bool is_aligned_;
  GemmTensors tensors_;
  const Value shared_;
  Value thread_, lane_;
  std::optional<Side> a_, b_;
};

}  // namespace

void build_gemm(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const GemmStage& stage, const GemmTiles& tiles,
                bool is_aligned) {
  build_kernel(builder, name, plan, step, {tiles.threads(), tiles.shared_bytes()},
               [&](const KernelFunction& function) { GemmBuilder(function, plan, step, stage, tiles, is_aligned).run(); });
}

}  // namespace attune::tensor_cores
