#include "codegen/tensor_cores/gemm_kernel.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <algorithm>

#include "codegen/tensor_cores/kernel_function.h"
#include "codegen/tensor_cores/shared_tile.h"

namespace attune::tensor_cores {
namespace {

using mlir::Value;

/// Several dims as one, the last the fastest.
class FlatDims {
 public:
  FlatDims(const Code& code, const Extents& extents, const std::vector<std::string>& dims)
      : code_(code), extents_(extents), dims_(dims), size_(code.number(1)) {
    for (const std::string& dim : dims) size_ = code.multiply(size_, extent(dim));
  }
  Value size() const { return size_; }
  Coordinates at(Value index) const {
    Coordinates at;
    for (std::size_t d = dims_.size(); d-- > 0;) {
      const Value own = d == 0 ? index : code_.remainder(index, extent(dims_[d]));
      if (d > 0) index = code_.divide(index, extent(dims_[d]));
      at.insert_or_assign(dims_[d], Emitted{&code_.builder, own, index_range});
    }
    return at;
  }

 private:
  Value extent(const std::string& dim) const { return extents_.find(dim)->second.value; }

  const Code& code_;
  const Extents& extents_;
  std::vector<std::string> dims_;
  Value size_;
};

/// An operand in shared memory: rows of the tile run along one side, its own dims or those contracted, and columns along the other.
struct Side {
  const Operand* operand = nullptr;
  const FlatDims* own = nullptr;
  int tile = 0;             ///< of its own dims
  bool is_by_own = false;   ///< its own dims lie side by side in memory, and not those contracted
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
        arguments_(function.builder, plan, step, function.function),
        graph_(
            step.graph, function.builder, [this](std::string_view label, const Coordinates& at) { return arguments_.load(label, at); },
            arguments_.extents()),
        rows_(code_, arguments_.extents(), stage.rows),
        columns_(code_, arguments_.extents(), stage.columns),
        over_(code_, arguments_.extents(), stage.over),
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
    const auto tiles_of = [&](const FlatDims& dims, int tile) { return code_.divide(code_.add(dims.size(), tile - 1), tile); };
    const auto is_by_own = [&](const Operand& operand) { return std::ranges::find(stage_.over, operand.dims.back()) == stage_.over.end(); };
    const Value column = code_.multiply(take(tiles_of(columns_, tiles_.column_tile)), tiles_.column_tile);
    const Value row = code_.multiply(take(tiles_of(rows_, tiles_.row_tile)), tiles_.row_tile);
    a_ = {&stage_.a, &rows_, tiles_.row_tile, is_by_own(stage_.a), row, code_.multiply(code_.divide(warp, warps_along_columns), tiles_.warp_rows)};
    b_ = {&stage_.b,           &columns_, tiles_.column_tile,
          is_by_own(stage_.b), column,    code_.multiply(code_.remainder(warp, warps_along_columns), tiles_.warp_columns)};
    batch_ = FlatDims(code_, arguments_.extents(), stage_.batch).at(rest);
  }

  // --- operands ---

  int stage_elements() const { return (tiles_.row_tile + tiles_.column_tile) * chunk; }
  /// A side's chunk of a stage in shared memory: the first operand's stands before the second's.
  SharedTile tile(const Side& side, Value stage) const {
    const Value place =
        code_.behind(code_.behind(shared_, code_.multiply(stage, 2 * stage_elements())), side.operand == &stage_.a ? 0 : 2 * tiles_.row_tile * chunk);
    return side.is_by_own ? SharedTile(code_, place, chunk, side.tile, side.tile) : SharedTile(code_, place, side.tile, chunk, chunk);
  }

  Value offset(const Side& side, const FlatDims& dims, Value index) const {
    return arguments_.offset(side.operand->input, side.operand->dims, dims.at(index));
  }

  /// Chunk number `number` of the contracted dims.
  void load(const Side& side, Value number, Value stage) const {
    const FlatDims &lines = side.is_by_own ? over_ : *side.own, &along = side.is_by_own ? *side.own : over_;
    const Value first_over = code_.multiply(number, chunk), first_line = side.is_by_own ? first_over : side.first,
                first_along = side.is_by_own ? side.first : first_over;
    const Value base = arguments_.offset(side.operand->input, side.operand->dims, batch_), zero = code_.number(0);
    const auto least = [&](Value a, Value b) { return builder_.createOrFold<mlir::arith::MinSIOp>(a, b); };
    const auto greatest = [&](Value a, Value b) { return builder_.createOrFold<mlir::arith::MaxSIOp>(a, b); };
    const auto place = [&](Value line, Value at) { return code_.add(base, code_.add(offset(side, lines, line), offset(side, along, at))); };
    const SharedTile shared = tile(side, stage);
    if (is_aligned_)
      return shared.copy(arguments_, side.operand->input, thread_, tiles_.threads(), [&](Value row, Value own_chunk) -> GlobalChunk {
        const Value line = code_.add(first_line, row), at = code_.add(first_along, code_.multiply(own_chunk, chunk_elements));
        const Value left = least(greatest(builder_.createOrFold<mlir::arith::SubIOp>(along.size(), at), zero), code_.number(chunk_elements));
        return {place(line, at), code_.select(code_.less(line, lines.size()), left, zero)};
      });
    shared.load(arguments_, side.operand->input, thread_, tiles_.threads(), [&](Value row, Value column) -> GlobalElement {
      const Value line = code_.add(first_line, row), at = code_.add(first_along, column),
                  is_there = code_.both(code_.less(line, lines.size()), code_.less(at, along.size()));
      return {place(code_.select(is_there, line, zero), code_.select(is_there, at, zero)), is_there};
    });
  }
  void load(Value number, Value stage) const {
    load(a_, number, stage);
    load(b_, number, stage);
    if (is_aligned_) code_.end_copies();
  }

  // --- sums ---

  int row_fragments() const { return tiles_.warp_rows / fragment; }
  int column_blocks() const { return tiles_.warp_columns / column_block; }
  std::size_t sum_at(int m, int n) const { return static_cast<std::size_t>(m * column_blocks() + n) * 4; }

  /// The stages are filled but for one; then each chunk is multiplied while the last of those that fit is copied to where the one before it stood.
  Code::Values walk() {
    const Value chunks = code_.divide(code_.add(over_.size(), chunk - 1), chunk);
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
    const SharedTile a = tile(a_, stage), b = tile(b_, stage);
    const Value none = code_.number(0);
    for (int k = 0; k < chunk; k += fragment) {
      std::vector<std::array<Value, 4>> first, second;
      for (int m = 0; m < tiles_.warp_rows; m += fragment)
        first.push_back(a_.is_by_own ? a.first_operand_by_columns(none, k, a_.warp_first, m, lane_)
                                     : a.first_operand(a_.warp_first, m, none, k, lane_));
      for (int n = 0; n < tiles_.warp_columns; n += fragment)
        second.push_back(b_.is_by_own ? b.second_operands(none, k, b_.warp_first, n, lane_)
                                      : b.second_operands_by_columns(b_.warp_first, n, none, k, lane_));
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
    const Value factor = code_.real(stage_.a.factor * stage_.b.factor);
    for (int m = 0; m < row_fragments(); ++m)
      for (int half = 0; half < 2; ++half) {
        const Value row = code_.add(code_.add(code_.add(a_.first, a_.warp_first), code_.divide(lane_, 4)), m * fragment + half * column_block);
        code_.when(code_.less(row, rows_.size()), [&] {
          for (int n = 0; n < column_blocks(); ++n)
            for (int i = 0; i < 2; ++i) {
              const Value column =
                  code_.add(code_.add(code_.add(b_.first, b_.warp_first), code_.multiply(code_.remainder(lane_, 4), 2)), n * column_block + i);
              code_.when(code_.less(column, columns_.size()),
                         [&] { store(row, column, code_.multiply(sums[sum_at(m, n) + static_cast<std::size_t>(2 * half + i)], factor)); });
            }
        });
      }
  }
  void store(Value row, Value column, Value sum) const {
    Coordinates at = batch_;
    at.merge(rows_.at(row));
    at.merge(columns_.at(column));
    arguments_.store(0, at, graph_.at(stage_.result, at, {{stage_.matmul, Emitted{&builder_, sum, {}}}}).value);
  }

  Builder& builder_;
  const Code code_;
  const GemmStage& stage_;
  const GemmTiles& tiles_;
  const bool is_aligned_;
  const StepArguments arguments_;
  const EmittedGraph graph_;
  const FlatDims rows_, columns_, over_;
  const Value shared_;
  Value thread_, lane_;
  Side a_, b_;
  Coordinates batch_;
};

}  // namespace

void build_gemm(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const GemmStage& stage, const GemmTiles& tiles,
                bool is_aligned) {
  build_kernel(builder, name, plan, step, {tiles.threads(), tiles.shared_bytes()},
               [&](const KernelFunction& function) { GemmBuilder(function, plan, step, stage, tiles, is_aligned).run(); });
}

}  // namespace attune::tensor_cores
