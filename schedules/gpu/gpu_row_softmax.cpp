#include <limits>

#include "codegen/halide/numbers/strict.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/common/row_result.h"
#include "schedules/common/tiles.h"
#include "schedules/gpu/devices.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// The maximum of a row and the total of its powers relative to it; the parts of a row that its threads walk have such states, too.
class RowStates {
 public:
  RowStates(const RowSoftmax& body, const Extents& extents, Device device, const GpuTile& tile)
      : body_(body), extent_(extents.at(body.along)), device_(device), tile_(tile), dims_(rows_of(body)), rows_(dims_, extents) {
    define_parts();
    RDom all(0, 1, 0, tile.block_rows, 0, tiles_of(rows_.extent(), tile.block_rows), "all");
    const RVar thread = all[0], in_block = all[1], block = all[2];
    const Expr row = block * tile.block_rows + in_block;
    all.where(opaque_condition(row < rows_.extent()));
    Coordinates at;
    rows_.place(within(row, rows_.extent()), at);
    states_(vars_of_memory(dims_)) = Halide::Tuple(Halide::undef<float>(), Halide::undef<float>());
    states_(innermost_first(dims_, at)) = merged(in_block, block);
    states_.compute_root();
    states_.update().allow_race_conditions().gpu_blocks(block).gpu_threads(thread, in_block);
    schedule_parts(block);
  }

  Expr maximum(const Coordinates& at) const { return states_(innermost_first(dims_, at))[0]; }
  Expr total(const Coordinates& at) const { return states_(innermost_first(dims_, at))[1]; }
  Expr power(const Expr& difference) const { return power_of_2_on(device_, difference * log2_e); }

 private:
  static std::vector<std::string> rows_of(const RowSoftmax& body) {
    std::vector<std::string> dims = body.out;
    std::erase(dims, body.along);
    return dims;
  }

  /// From the lowest number, not from -infinity: a row of -infinity then subtracts a number.
  void define_parts() {
    const RDom chunks(0, tiles_of(extent_, tile_.block_columns), "chunks");
    const Expr index = chunks.x * tile_.block_columns + thread_;
    Coordinates at;
    rows_.place(clamped(Expr(block_) * tile_.block_rows + Expr(row_), rows_.extent(), false), at);
    at[body_.along] = clamped(index, extent_, false);
    const Expr x = Halide::select(opaque_condition(index < extent_), body_.x.at(at), hidden_score());
    const Exprs place = {thread_, row_, block_};
    part_(place) = Halide::Tuple(std::numeric_limits<float>::lowest(), 0.f);
    const Expr before = part_(place)[0], reference = maximum_on(device_, before, x);
    part_(place) = Halide::Tuple(reference, part_(place)[1] * power(before - reference) + power(x - reference));
    shared_(place) = Halide::Tuple(part_(place)[0], part_(place)[1]);
  }

  Halide::Tuple merged(const Expr& row, const Expr& block) const {
    Expr maximum = shared_(0, row, block)[0], total = 0.f;
    for (int n = 1; n < tile_.block_columns; ++n) maximum = maximum_on(device_, maximum, shared_(n, row, block)[0]);
    for (int n = 0; n < tile_.block_columns; ++n) total += shared_(n, row, block)[1] * power(shared_(n, row, block)[0] - maximum);
    return {maximum, total};
  }

  void schedule_parts(const RVar& block) {
    shared_.compute_at(states_, block).store_in(Halide::MemoryType::GPUShared);
    shared_.bound_extent(thread_, tile_.block_columns).bound_extent(row_, tile_.block_rows).bound_extent(block_, 1).gpu_threads(thread_, row_);
    part_.compute_at(shared_, thread_);
  }

  const RowSoftmax& body_;
  const Expr extent_;
  const Device device_;
  const GpuTile tile_;
  const std::vector<std::string> dims_;
  const Flat rows_;
  const Var thread_{"thread-"}, row_{"row-"}, block_{"block-"};
  Func part_{"part"}, shared_{"shared_part"};  // [thread, row, block]
  Func states_{"row_states"};                  // over the dims of rows
};

}  // namespace

std::vector<Parameter> gpu_row_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_row_softmax", machine, size, {{"block_columns", {8, 16, 32, 64}}, {"block_rows", {1, 2, 4, 8}}});
}

Stored gpu_row_softmax(const RowSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  const GpuTile tile = gpu_tile(values);
  const RowStates rows(body, extents, machine.device, tile);
  const Coordinates at = vars_at(body.out);
  const Expr total = rows.total(at), p = rows.power(body.x.at(at) - rows.maximum(at)) * Halide::select(strict_equal(total, 0.f), 0.f, 1.f / total);
  Func result("softmax");
  result(vars_of_memory(body.out)) = body.finish ? body.finish(p, at) : p;
  run_on_gpu(result, gpu_grid(body.out), extents, tile);
  Stored stored{result, body.out};
  if (!body.log_sum_exp) return stored;
  const RowResult& wanted = *body.log_sum_exp;
  const Coordinates row = vars_at(wanted.out);
  Func log_sum_exp("log_sum_exp");
  log_sum_exp(vars_of_memory(wanted.out)) = finished(wanted, log_sum_exp_of(rows.maximum(row), rows.total(row)), row);
  run_on_gpu(log_sum_exp, gpu_grid(wanted.out), extents, tile);
  stored.beside = {{log_sum_exp, wanted.out}};
  return stored;
}

}  // namespace attune
