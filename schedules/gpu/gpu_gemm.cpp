/// One kernel: sums in the registers of a block's threads, operands in the memory that they share.
#include <algorithm>
#include <string>
#include <vector>

#include "schedules/common/opaque_condition.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"
#include "schedules/gpu/devices.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

// Dims of the grid beside those of the batch.
constexpr const char *row_block = "row block", *column_block = "column block";

class GpuGemm {
 public:
  GpuGemm(const Gemm& body, const Extents& extents, const BlockThreads& threads, int thread_columns, int over_chunk)
      : body_(body),
        extents_(extents),
        threads_(threads),
        thread_columns_(thread_columns),
        rows_(body.rows, extents),
        columns_(body.columns, extents),
        over_(body.over, extents),
        chunk_(over_chunk_of(over_chunk)),
        grid_(blocks_of_threads()) {}

  Stored build() {
    define_sums();
    RDom all(0, thread_columns_, 0, threads_.thread_rows, 0, threads_.columns, 0, threads_.rows, 0, grid_.extent(), "all");
    const Expr row = all[3] * threads_.thread_rows + all[1];
    Coordinates at;
    grid_.place(all[4], at);
    const Expr whole_row = at.at(row_block) * tile_rows() + row, whole_column = at.at(column_block) * tile_columns() + column_of(all[0], all[2]);
    all.where(opaque_condition(whole_row < rows_.extent() && whole_column < columns_.extent()));
    rows_.place(within(whole_row, rows_.extent()), at);
    columns_.place(within(whole_column, columns_.extent()), at);
    const Expr sum = sums_(all[0], all[2], row, all[4]), value = body_.finish ? body_.finish(sum, at) : sum;
    Func out("gemm");
    out(vars_of_memory(body_.out)) = Halide::undef(value.type());
    out(innermost_first(body_.out, at)) = value;
    out.compute_root();
    out.update().allow_race_conditions().unroll(RVar(all[0])).unroll(RVar(all[1])).gpu_blocks(RVar(all[4])).gpu_threads(RVar(all[2]), RVar(all[3]));
    schedule_sums(out, all[4]);
    return {out, body_.out};
  }

 private:
  int tile_rows() const { return threads_.rows * threads_.thread_rows; }
  int tile_columns() const { return threads_.columns * thread_columns_; }
  /// A thread's columns are as far apart as a block is wide: the rows of the operand that a warp reads lie in different banks.
  Expr column_of(const Expr& number, const Expr& thread) const { return number * threads_.columns + thread; }

  int over_chunk_of(int chunk) const {
    const auto over = fixed_value(over_.extent());
    return over ? std::min(chunk, up_to_multiple(std::max(*over, 1), gpu_vector)) : chunk;
  }
  bool is_whole_chunks() const {
    const auto over = fixed_value(over_.extent());
    return over && *over % chunk_ == 0;
  }

  Flat blocks_of_threads() const {
    std::vector<std::string> dims = body_.batch;
    dims.insert(dims.end(), {row_block, column_block});
    Extents extents = extents_;
    extents[row_block] = tiles_of(rows_.extent(), tile_rows());
    extents[column_block] = tiles_of(columns_.extent(), tile_columns());
    return {dims, extents};
  }

  /// A chunk of an operand whose index along the dims that the other lacks is given; 0 beyond the contracted dims.
  Expr staged(const Piece& operand, const Flat& outer, const Expr& index) const {
    Coordinates at;
    grid_.place(block_, at);
    outer.place(clamped(index, outer.extent(), false), at);
    const Expr over = Expr(chunk_number_) * chunk_ + Expr(in_chunk_);
    over_.place(clamped(over, over_.extent(), false), at);
    return is_whole_chunks() ? operand.at(at) : Halide::select(opaque_condition(over < over_.extent()), operand.at(at), 0.f);
  }

  void define_sums() {
    Coordinates at;
    grid_.place(block_, at);
    a_(in_chunk_, row_, chunk_number_, block_) = staged(body_.a, rows_, at.at(row_block) * tile_rows() + Expr(row_));
    b_(in_chunk_, column_, chunk_number_, block_) = staged(body_.b, columns_, at.at(column_block) * tile_columns() + Expr(column_));
    chunks_ = RDom(0, chunk_, 0, tiles_of(over_.extent(), chunk_), "over");
    sums_(number_, thread_, row_, block_) = 0.f;
    sums_(number_, thread_, row_, block_) += a_(chunks_.x, row_, chunks_.y, block_) * b_(chunks_.x, column_of(number_, thread_), chunks_.y, block_);
  }

  void schedule_sums(Func& out, const RVar& block) {
    sums_.compute_at(out, block).store_in(Halide::MemoryType::Register);
    sums_.bound_extent(number_, thread_columns_).bound_extent(thread_, threads_.columns).bound_extent(row_, tile_rows()).bound_extent(block_, 1);
    by_threads(sums_, thread_, row_, threads_, {number_});
    const Var y("y-"), of_thread("of_thread-");
    const RVar vectors("vectors-"), in_vector("in_vector-"), chunk = chunks_.y;
    sums_.update().split(chunks_.x, vectors, in_vector, gpu_vector).split(row_, y, of_thread, threads_.thread_rows);
    sums_.update()
        .reorder(in_vector, number_, of_thread, vectors, thread_, y, chunk)
        .unroll(in_vector)
        .unroll(number_)
        .unroll(of_thread)
        .gpu_threads(thread_, y);
    stage(a_, body_.a, row_, body_.rows, tile_rows(), chunk);
    stage(b_, body_.b, column_, body_.columns, tile_columns(), chunk);
  }

  void stage(Func& staged, const Piece& operand, const Var& outer, const std::vector<std::string>& dims, int extent, const RVar& chunk) {
    staged.compute_at(sums_, chunk)
        .bound_extent(outer, extent)
        .bound_extent(chunk_number_, 1)
        .bound_extent(block_, 1)
        .align_storage(in_chunk_, chunk_ + row_padding);
    stage_in_block(staged, operand, in_chunk_, chunk_, outer, dims.empty() ? std::string() : dims.back(), threads_);
  }

  const Gemm& body_;
  const Extents& extents_;
  const BlockThreads threads_;
  const int thread_columns_;
  const Flat rows_, columns_, over_;
  const int chunk_;
  const Flat grid_;

  const Var in_chunk_{"in_chunk-"}, chunk_number_{"chunk-"}, row_{"row-"}, column_{"column-"};
  const Var number_{"number-"}, thread_{"thread-"}, block_{"block-"};
  Func a_{"a"}, b_{"b"};  // [in chunk, row or column of the tile, chunk, block]
  Func sums_{"sums"};     // [number, thread, row, block]
  RDom chunks_;
};

BlockThreads threads_from(const std::vector<Parameter>& values) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(values, name)); };
  return {value("block_columns"), value("block_rows"), value("thread_rows")};
}

}  // namespace

std::vector<Parameter> gpu_gemm_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_gemm", machine, size,
                       {{"block_columns", {8, 16, 32}},
                        {"block_rows", {4, 8, 16}},
                        {"thread_columns", {1, 2, 4, 8}},
                        {"thread_rows", {1, 2, 4, 8}},
                        {"over_chunk", {16, 32}}});
}

std::string gpu_gemm_problem(const Machine& machine, const std::vector<Parameter>& values) {
  const BlockThreads threads = threads_from(values);
  const std::int64_t tiles = threads.rows * threads.thread_rows + threads.columns * value_of(values, "thread_columns");
  return shared_memory_problem("gpu_gemm", machine.device, tiles * (value_of(values, "over_chunk") + row_padding));
}

Stored gpu_gemm(const Gemm& body, const Extents& extents, const Machine&, const std::vector<Parameter>& values) {
  return GpuGemm(body, extents, threads_from(values), static_cast<int>(value_of(values, "thread_columns")),
                 static_cast<int>(value_of(values, "over_chunk")))
      .build();
}

}  // namespace attune
