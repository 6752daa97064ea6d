#include "schedules/common/tiles.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/gpu/gpu_grid.h"

using Halide::Expr;
using Halide::Func;

namespace attune {

/// One kernel walks, a thread for each row, and one makes the results of what it found.
Stored gpu_row_walk(const Pointwise& body, const Extents& extents, const GpuTile& tile) {
  const RowWalk& walk = *body.walk;
  const auto step = [&](const Exprs& before, const Coordinates& at) { return walk.step(before, body.x.at(at)); };
  const Func values = running_on_gpu({"running", body.out, walk.along, walk.initial, step}, extents, tile);
  const Coordinates at = vars_at(body.out);
  const Expr result = walk.result(values_of(values, innermost_first(body.out, at)), body.x.at(at));
  Func walked("walked");
  walked(vars_of_memory(body.out)) = walk.finish ? walk.finish(result, at) : result;
  run_on_gpu(walked, gpu_grid(body.out), extents, tile);
  return {walked, body.out};
}

}  // namespace attune
