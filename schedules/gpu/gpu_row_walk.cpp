#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/gpu/gpu_grid.h"

using Halide::Expr;
using Halide::Func;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// What is found of a row, over the other dims: a thread walks a row.
Func found_values(const Pointwise& body, const std::vector<std::string>& rows, const Extents& extents, const GpuTile& tile) {
  const RowWalk& walk = *body.walk;
  const std::string pass = "pass-";  // no dim of a graph has such a name
  Extents all = extents;
  all[pass] = walk.passes;
  const auto step = [&](const Exprs& before, const Coordinates& at) {
    const Expr &position = at.at(walk.along), is_last = position == extents.at(walk.along) - 1;
    const Exprs values = walk.step(before, body.x.at(at), position, at.at(pass));
    Exprs after = walk.end_pass(values, at.at(pass));
    for (std::size_t n = 0; n < after.size(); ++n) after[n] = Halide::select(is_last, after[n], values[n]);
    return after;
  };
  const auto same = [](const Exprs& values, const Coordinates&) { return values; };
  return reduced_on_gpu({"found", gpu_grid(rows), {pass, walk.along}, walk.initial, step, same}, all, tile);
}

/// What a walk has before each element, over all dims.
Func running_values(const Pointwise& body, const std::vector<std::string>& rows, const Extents& extents, const GpuTile& tile) {
  const RowWalk& walk = *body.walk;
  Func values("running");
  values(vars_of_memory(body.out)) = Halide::Tuple(walk.initial);
  run_on_gpu(values, gpu_grid(body.out), extents, tile);
  const Halide::RDom steps(1, Halide::max(extents.at(walk.along) - 1, 0), "steps");
  Coordinates at = vars_at(body.out), before = at;
  at[walk.along] = steps.x;
  before[walk.along] = steps.x - 1;
  const RowWalk::Values last = values_of(values, place_in_memory(body.out, before));
  values(place_in_memory(body.out, at)) = Halide::Tuple(walk.step(last, body.x.at(before), steps.x - 1, 0));
  Halide::Stage stage = values.update();
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
  stage.reorder(RVar(steps.x.name()), thread, block).gpu_blocks(block).gpu_threads(thread);
  return values;
}

}  // namespace

/// One kernel walks, a thread for each row, and one makes the results of what it found.
Stored gpu_row_walk(const Pointwise& body, const Extents& extents, const GpuTile& tile) {
  const RowWalk& walk = *body.walk;
  std::vector<std::string> rows = body.out;
  std::erase(rows, walk.along);
  const Func values = walk.is_running ? running_values(body, rows, extents, tile) : found_values(body, rows, extents, tile);
  const Coordinates at = vars_at(body.out);
  const Expr result = walk.result(values_of(values, place_in_memory(walk.is_running ? body.out : rows, at)), body.x.at(at), at.at(walk.along));
  Func walked("walked");
  walked(vars_of_memory(body.out)) = walk.finish ? walk.finish(result, at) : result;
  run_on_gpu(walked, gpu_grid(body.out), extents, tile);
  return {walked, body.out};
}

}  // namespace attune
