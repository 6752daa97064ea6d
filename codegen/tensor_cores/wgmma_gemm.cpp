/// Products by warpgroups: a block of threads has row_tile x column_tile sums in registers, of which each warpgroup has group_rows rows. Chunks of 64
/// of the contracted dims pass through shared memory in several stages, as panels of 64 columns, from which the instructions read both operands.
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <algorithm>

#include "codegen/tensor_cores/core_schedule.h"
#include "codegen/tensor_cores/gemm_tensors.h"
#include "codegen/tensor_cores/warpgroup.h"
#include "schedules/mma/mma.h"

namespace attune::tensor_cores {
namespace {

using mlir::Value;

/// `row_band` tiles of rows are walked with all tiles of columns before the next: blocks that run at once then read few operands.
struct WarpgroupTiles {
  int row_tile, column_tile, group_rows, stages, row_band;
  static constexpr int over_chunk = Panels::columns, group_threads = 128, product_rows = 64;

  int threads() const { return group_threads * (row_tile / group_rows); }
  int a_bytes() const { return row_tile * Panels::row_bytes; }
  int stage_bytes() const { return a_bytes() + column_tile * Panels::row_bytes; }
  /// Sums on their way to memory: of each warp 16 rows. 8 reals more a row, so that four rows of two reals a lane take all banks once.
  int sum_pitch() const { return column_tile + 8; }
  int warp_sum_bytes() const { return 16 * sum_pitch() * static_cast<int>(sizeof(float)); }
  int shared_bytes() const { return std::max(stages * stage_bytes(), threads() / 32 * warp_sum_bytes()); }
};

class WarpgroupGemm {
 public:
  WarpgroupGemm(const KernelFunction& function, const KernelSteps& plan, const Step& step, const GemmStage& stage, const WarpgroupTiles& tiles)
      : builder_(function.builder),
        code_(function.builder),
        stage_(stage),
        tiles_(tiles),
        tensors_(function, plan, step, stage),
        shared_(function.shared) {}

  void run() {
    find_place();
    store(walk());
  }

 private:
  static constexpr int chunk = WarpgroupTiles::over_chunk, step_over = 16, warp_rows = 16, run_columns = 4;

  /// Whether so many from a first one on are there.
  Value is_inside(Value first, int count, const FlatDims& dims) const { return code_.less(code_.add(first, count - 1), dims.size()); }

  void find_place() {
    thread_ = mlir::NVVM::ThreadIdXOp::create(builder_, builder_.getI32Type());
    lane_ = code_.remainder(thread_, 32);
    warp_ = of_first_lane(code_, code_.divide(thread_, 32));
    const Value block = mlir::NVVM::BlockIdXOp::create(builder_, builder_.getI32Type());
    const Value row_tiles = tensors_.rows().tiles(tiles_.row_tile), column_tiles = tensors_.columns().tiles(tiles_.column_tile);
    const Value of_product = code_.multiply(row_tiles, column_tiles), band_blocks = code_.multiply(column_tiles, tiles_.row_band);
    const Value in_product = code_.remainder(block, of_product), in_band = code_.remainder(in_product, band_blocks);
    const Value first_row = code_.multiply(code_.divide(in_product, band_blocks), tiles_.row_band);
    const Value rows_left = builder_.createOrFold<mlir::arith::SubIOp>(row_tiles, first_row);
    const Value band_rows = builder_.createOrFold<mlir::arith::MinSIOp>(rows_left, code_.number(tiles_.row_band));
    first_row_ = code_.multiply(code_.add(first_row, code_.remainder(in_band, band_rows)), tiles_.row_tile);
    first_column_ = code_.multiply(code_.divide(in_band, band_rows), tiles_.column_tile);
    tensors_.take_product(code_.divide(block, of_product));
    is_inside_ =
        code_.both(is_inside(first_row_, tiles_.row_tile, tensors_.rows()), is_inside(first_column_, tiles_.column_tile, tensors_.columns()));
  }

  // --- operands: panels of the first one, then of the second one, for each stage ---

  Value stage_place(Value stage) const { return code_.behind(shared_, code_.multiply(stage, tiles_.stage_bytes())); }

  void load(const GemmSide& side, int tile, Value place, Value first_own, Value first_over, GemmTensors::Loads loads) const {
    if (!side.is_by_own)
      return tensors_.load({code_, stage_.a.element, place, tile, chunk, chunk}, side, first_own, first_over, thread_, tiles_.threads(), loads);
    for (int own = 0; own < tile; own += Panels::columns)
      tensors_.load({code_, stage_.a.element, code_.behind(place, own * Panels::row_bytes), chunk, Panels::columns, Panels::columns}, side,
                    code_.add(first_own, own), first_over, thread_, tiles_.threads(), loads);
  }
  /// Copies of what is there whole take a third of the instructions, for which products leave threads little room:
  /// their sums take the registers' ports.
  void load(Value number, Value stage) const {
    const Value place = stage_place(stage), first_over = code_.multiply(number, chunk);
    const Value is_whole = code_.both(is_inside_, is_inside(first_over, chunk, tensors_.over()));
    const auto load_both = [&](GemmTensors::Loads loads) {
      load(tensors_.a(), tiles_.row_tile, place, first_row_, first_over, loads);
      load(tensors_.b(), tiles_.column_tile, code_.behind(place, tiles_.a_bytes()), first_column_, first_over, loads);
    };
    code_.when(is_whole, [&] { load_both(GemmTensors::Loads::of_all); });
    code_.when(code_.exclusive_or(is_whole, Emitted::boolean(builder_, true).value), [&] { load_both(GemmTensors::Loads::of_chunks); });
    code_.end_copies();
  }

  // --- sums ---

  int products_of_rows() const { return tiles_.group_rows / WarpgroupTiles::product_rows; }
  std::size_t sums_of_product() const { return static_cast<std::size_t>(tiles_.column_tile / 2); }

  /// A chunk is multiplied while the one before it may still be, and those behind it are copied: to where the last but one stood, whose products have
  /// ended for all warpgroups, since each waits for its own before the barrier.
  Code::Values walk() const {
    const Value chunks = tensors_.over().tiles(chunk);
    const int ahead = tiles_.stages - 2;
    for (int i = 0; i < ahead; ++i) load(code_.number(i), code_.number(i));
    Code::Values start{code_.number(0)};
    start.resize(1 + static_cast<std::size_t>(products_of_rows()) * sums_of_product(), code_.real(0));
    const auto goes_on = [&](const Code::Values& at) { return code_.less(at[0], chunks); };
    const Code::Values end = code_.loop(start, goes_on, [&](const Code::Values& at) {
      code_.wait_for_copies(ahead - 1);
      show_to_products(code_);
      code_.barrier();
      Code::Values sums = multiply(code_.remainder(at[0], tiles_.stages), begin_products(code_, {at.begin() + 1, at.end()}));
      end_products(code_);
      const Value next = code_.add(at[0], ahead);
      load(next, code_.remainder(next, tiles_.stages));
      sums = wait_for_products(code_, 1, sums);
      sums.insert(sums.begin(), code_.add(at[0], 1));
      return sums;
    });
    code_.wait_for_copies(0);
    return wait_for_products(code_, 0, {end.begin() + 1, end.end()});
  }

  Code::Values multiply(Value stage, const Code::Values& before) const {
    const GemmSide a = tensors_.a(), b = tensors_.b();
    const Value place = stage_place(stage), own_rows = code_.multiply(code_.divide(warp_, 4), tiles_.group_rows * Panels::row_bytes);
    const Panels first(code_, code_.behind(place, own_rows), a.is_by_own ? chunk : tiles_.row_tile);
    const Panels second(code_, code_.behind(place, tiles_.a_bytes()), b.is_by_own ? chunk : tiles_.column_tile);
    Code::Values sums;
    for (int m = 0; m < products_of_rows(); ++m) {
      const auto begin = before.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(m) * sums_of_product());
      Code::Values product(begin, begin + static_cast<std::ptrdiff_t>(sums_of_product()));
      const int row = m * WarpgroupTiles::product_rows;
      for (int k = 0; k < chunk; k += step_over)
        product = multiplied(code_, stage_.a.element, a.is_by_own ? first.by_contracted_rows(k, row) : first.by_own_rows(row, k),
                             b.is_by_own ? second.by_contracted_rows(k, 0) : second.by_own_rows(0, k), tiles_.column_tile, product);
      sums.append(product.begin(), product.end());
    }
    return sums;
  }

  // --- results ---

  /// Sums pass through shared memory, 16 rows of a warp at once, so that a warp's lanes store what lies side by side.
  void store(const Code::Values& sums) const {
    const Value place = code_.behind(shared_, code_.multiply(warp_, tiles_.warp_sum_bytes()));
    for (int m = 0; m < products_of_rows(); ++m) {
      code_.barrier();
      for (std::size_t i = 0; i < sums_of_product(); i += 2) {
        const auto number = static_cast<std::int64_t>(i);
        const Value row = code_.add(code_.divide(lane_, 4), 8 * (number / 2 % 2)),
                    column = code_.add(code_.multiply(code_.remainder(lane_, 4), 2), 8 * (number / 4));
        const std::size_t at = static_cast<std::size_t>(m) * sums_of_product() + i;
        Value pair = mlir::LLVM::PoisonOp::create(builder_, mlir::VectorType::get(2, builder_.getF32Type()));
        for (int half = 0; half < 2; ++half)
          pair = mlir::LLVM::InsertElementOp::create(builder_, pair, sums[at + static_cast<std::size_t>(half)], code_.number(half));
        mlir::LLVM::StoreOp::create(builder_, pair, sum_place(place, row, column), 2 * sizeof(float));
      }
      code_.barrier();
      const Value first_row = code_.add(code_.multiply(code_.divide(warp_, 4), tiles_.group_rows),
                                        code_.add(code_.multiply(code_.remainder(warp_, 4), warp_rows), m * WarpgroupTiles::product_rows));
      store_rows(place, code_.add(first_row_, first_row));
    }
  }
  Value sum_place(Value place, Value row, Value column) const {
    return code_.behind(place, code_.multiply(code_.add(code_.multiply(row, tiles_.sum_pitch()), column), sizeof(float)));
  }
  void store_rows(Value place, Value first_row) const {
    const Value has_runs = tensors_.has_runs(run_columns);
    code_.when(has_runs, [&] { store_rows(place, first_row, run_columns); });
    code_.when(code_.exclusive_or(has_runs, Emitted::boolean(builder_, true).value), [&] { store_rows(place, first_row, 1); });
  }
  /// Lanes store so many columns each at once; where all lanes have more than a row is wide, those beyond it have the next ones.
  void store_rows(Value place, Value first_row, int width) const {
    const int row_lanes = std::min(32, tiles_.column_tile / width), rows = 32 / row_lanes;
    const Value own_row = code_.divide(lane_, row_lanes), own_column = code_.multiply(code_.remainder(lane_, row_lanes), width);
    const auto goes_on = [&](const Code::Values& at) {
      return code_.both(code_.less(at[0], code_.number(warp_rows)), code_.less(code_.add(first_row, at[0]), tensors_.rows().size()));
    };
    code_.loop({own_row}, goes_on, [&](const Code::Values& at) -> Code::Values {
      for (int beside = 0; beside < tiles_.column_tile; beside += row_lanes * width) {
        const Value in_tile = code_.add(own_column, beside), column = code_.add(first_column_, in_tile), row = code_.add(first_row, at[0]);
        code_.when(code_.less(column, tensors_.columns().size()), [&] {
          const Value from = sum_place(place, at[0], in_tile);
          if (width == 1) return tensors_.store(row, column, mlir::LLVM::LoadOp::create(builder_, builder_.getF32Type(), from, sizeof(float)));
          const Value loaded = mlir::LLVM::LoadOp::create(builder_, mlir::VectorType::get(width, builder_.getF32Type()), from,
                                                          static_cast<unsigned>(width * sizeof(float)));
          Code::Values sums;
          for (int i = 0; i < width; ++i) sums.push_back(mlir::LLVM::ExtractElementOp::create(builder_, loaded, code_.number(i)));
          tensors_.store(row, column, sums);
        });
      }
      return {code_.add(at[0], rows)};
    });
  }

  Builder& builder_;
  const Code code_;
  const GemmStage& stage_;
  const WarpgroupTiles tiles_;
  GemmTensors tensors_;
  const Value shared_;
  Value thread_, lane_, warp_, first_row_, first_column_, is_inside_;
};

WarpgroupTiles warpgroup_tiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  return {value("row_tile"), value("column_tile"), value("group_rows"), value("stages"), value("row_band")};
}

int warpgroup_shared_bytes(const CodeRequest&, const std::vector<Parameter>& parameters) { return warpgroup_tiles(parameters).shared_bytes(); }

std::string warpgroup_refusal(const CodeRequest& request) {
  const GemmAnswer answer = gemm_stage(request.plan, request.step);
  return answer.stage && answer.stage->is_split() ? "warpgroups multiply elements of 16 bits, of one storage" : answer.problem;
}

Launch build_warpgroup_gemm(Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const GemmStage stage = *gemm_stage(request.plan, request.step).stage;
  const WarpgroupTiles tiles = warpgroup_tiles(parameters);
  const Launch launch{{{stage.batch, 1}, {stage.rows, tiles.row_tile}, {stage.columns, tiles.column_tile}},
                      tiles.threads(),
                      tiles.shared_bytes(),
                      "gemm_of_warpgroups",
                      {},
                      {stage.a.input, stage.b.input},
                      stage.aligned_dims()};
  build_kernel(builder, launch.aligned_kernel, request.plan, request.step, {launch.threads, launch.shared_bytes, true},
               [&](const KernelFunction& function) { WarpgroupGemm(function, request.plan, request.step, stage, tiles).run(); });
  return launch;
}

}  // namespace

const CoreSchedule wgmma_gemm_schedule = {wgmma_gemm, warpgroup_refusal, nullptr, warpgroup_shared_bytes, build_warpgroup_gemm};

}  // namespace attune::tensor_cores
