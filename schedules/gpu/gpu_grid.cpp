#include "schedules/gpu/gpu_grid.h"

#include <algorithm>
#include <functional>

#include "schedules/common/tiles.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/records/parameters.h"

using Halide::Expr;
using Halide::Func;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {
namespace {

const Var thread_x("thread_x-"), thread_y("thread_y-");

/// The index, at the end of the extent where it is beyond: threads of the last block compute elements that are not stored.
Expr at_most_last(const Expr& index, const Expr& extent) { return Halide::clamp(index, 0, extent - 1); }

}  // namespace

Expr hidden_index(const Expr& index, const Expr& extent) { return within(index & 0x7fffffff, extent); }

GpuTile gpu_tile(const std::vector<Parameter>& values) {
  const auto value = [&](std::string_view name) {
    const auto found = std::ranges::find(values, name, &Parameter::name);
    return found == values.end() ? 1 : static_cast<int>(found->value);
  };
  return {value("block_columns"), value("block_rows"), value("thread_columns"), value("thread_rows")};
}

GpuGrid gpu_grid(const std::vector<std::string>& dims, const std::function<bool(const std::string&)>& is_row) {
  GpuGrid grid{dims, dims.empty() ? std::string() : dims.back(), dims.size() < 2 ? std::string() : dims[dims.size() - 2]};
  if (!is_row) return grid;
  for (std::size_t n = 0; n + 1 < dims.size(); ++n)
    if (is_row(dims[n])) grid.rows = dims[n];
  return grid;
}

void run_on_gpu(Func func, const GpuGrid& grid, const Extents& extents, const GpuTile& tile) {
  func.compute_root();
  if (grid.dims.empty()) {
    func.gpu_single_thread();
    return;
  }
  for (const std::string& dim : grid.dims) func.bound(Var(dim), 0, extents.at(dim));
  const Var block_x("block_x-"), block_y("block_y-"), in_x("in_x-"), in_y("in_y-"), element_x("element_x-"), element_y("element_y-");
  std::vector<VarOrRVar> threads{thread_x};
  std::vector<VarOrRVar> order{element_x}, blocks{block_x};
  const auto cut = [&func](const std::string& dim, const Var& block, const Var& in, const Var& thread, const Var& element, int block_size,
                           int thread_size) {
    func.split(Var(dim), block, in, block_size * thread_size, TailStrategy::GuardWithIf).split(in, thread, element, thread_size).unroll(element);
  };
  cut(grid.columns, block_x, in_x, thread_x, element_x, tile.block_columns, tile.thread_columns);
  if (!grid.rows.empty()) {
    cut(grid.rows, block_y, in_y, thread_y, element_y, tile.block_rows, tile.thread_rows);
    order.emplace_back(element_y);
    threads.emplace_back(thread_y);
    blocks.emplace_back(block_y);
  }
  for (const Var& var : vars_of_memory(grid.dims))
    if (var.name() != grid.columns && var.name() != grid.rows) blocks.emplace_back(var);
  order.insert(order.end(), threads.begin(), threads.end());
  order.insert(order.end(), blocks.begin(), blocks.end());
  func.reorder(order);
  Var all = block_x;
  for (std::size_t n = 1; n < blocks.size(); ++n) {
    const Var both;
    func.fuse(all, blocks[n], both);
    all = both;
  }
  func.gpu_blocks(all);
  if (grid.rows.empty()) func.gpu_threads(thread_x);
  else func.gpu_threads(thread_x, thread_y);
}

Func reduced_on_gpu(const GpuReduction& reduction, const Extents& extents, const GpuTile& tile) {
  const GpuGrid& grid = reduction.grid;
  const std::vector<Var> vars = vars_of_memory(grid.dims);
  Coordinates at = vars_at(grid.dims), clamped = at;
  std::vector<VarOrRVar> order;
  for (const std::string& dim : {grid.columns, grid.rows})
    if (!dim.empty()) {
      at[dim] = hidden_index(Var(dim), extents.at(dim));
      clamped[dim] = at_most_last(Var(dim), extents.at(dim));
      order.emplace_back(Var(dim));
    }

  Func value(reduction.name + "_value"), result(reduction.name);
  const bool has_steps = !reduction.initial.empty();
  value(vars) = Halide::Tuple(has_steps ? reduction.initial : reduction.step({}, clamped));
  const Exprs place(vars.begin(), vars.end());
  if (!reduction.over.empty()) {
    Halide::Region ranges;
    for (auto dim = reduction.over.rbegin(); dim != reduction.over.rend(); ++dim) ranges.emplace_back(0, extents.at(*dim));
    const Halide::RDom loops(ranges, reduction.name + "_over");
    for (std::size_t n = 0; n < reduction.over.size(); ++n) {
      const auto i = static_cast<int>(reduction.over.size() - 1 - n);
      clamped[reduction.over[n]] = loops[i];
      order.insert(order.begin() + (grid.dims.empty() ? 0 : (grid.rows.empty() ? 1 : 2)), Halide::RVar(loops[i].name()));
    }
  }
  if (has_steps) value(vars) = Halide::Tuple(reduction.step(values_of(value, place), clamped));
  result(vars) = Halide::Tuple(reduction.finish(values_of(value, place), at));
  run_on_gpu(result, grid, extents, tile);
  if (grid.dims.empty()) return result;

  value.compute_at(result, thread_x).bound_extent(Var(grid.columns), tile.thread_columns);
  if (!grid.rows.empty()) value.bound_extent(Var(grid.rows), tile.thread_rows);
  std::vector<Stage> stages{value};
  if (has_steps) stages.push_back(value.update().reorder(order));
  for (const std::string& dim : {grid.columns, grid.rows})
    for (Stage& stage : stages)
      if (!dim.empty()) stage.unroll(Var(dim));
  return result;
}

Func running_on_gpu(const GpuRunning& running, const Extents& extents, const GpuTile& tile) {
  Func values(running.name);
  values(vars_of_memory(running.dims)) = Halide::Tuple(running.initial);
  run_on_gpu(values, gpu_grid(running.dims), extents, tile);
  const Halide::RDom steps(1, Halide::max(extents.at(running.along) - 1, 0), "steps");
  Coordinates at = vars_at(running.dims), before = at;
  at[running.along] = steps.x;
  before[running.along] = steps.x - 1;
  values(innermost_first(running.dims, at)) = Halide::Tuple(running.step(values_of(values, innermost_first(running.dims, before)), before));
  Stage stage = values.update();
  std::vector<std::string> rows = running.dims;
  std::erase(rows, running.along);
  if (rows.empty()) {
    stage.gpu_single_thread();
    return values;
  }
  Var all(rows.back()), block("block-"), thread("thread-");
  for (std::size_t n = rows.size() - 1; n-- > 0;) {
    const Var both;
    stage.fuse(all, Var(rows[n]), both);
    all = both;
  }
  stage.split(all, block, thread, tile.block_columns * tile.block_rows, Halide::TailStrategy::GuardWithIf);
  stage.reorder(Halide::RVar(steps.x.name()), thread, block).gpu_blocks(block).gpu_threads(thread);
  return values;
}

}  // namespace attune
