#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/records/tuned.h"

using Halide::Func;
using Halide::Var;

namespace attune {

std::vector<Parameter> gpu_pointwise_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_pointwise", machine, size, {{"block_columns", {8, 16, 32, 64}}, {"block_rows", {1, 2, 4, 8}}});
}

Stored gpu_pointwise(const Pointwise& body, const Extents& extents, const Machine&, const std::vector<Parameter>& values) {
  Func result("pointwise");
  Coordinates at;
  for (const std::string& dim : body.out) at[dim] = Var(dim);
  result(std::vector<Var>(body.out.rbegin(), body.out.rend())) = body.x.at(at);
  run_on_gpu(result, gpu_grid(body.out), extents, gpu_tile(values));
  return {result, body.out};
}

}  // namespace attune
