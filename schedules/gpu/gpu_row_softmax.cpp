#include <limits>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"
#include "schedules/common/softmax_math.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/gpu/gpu_log_sum_exp.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace attune {
std::vector<Parameter> gpu_row_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_row_softmax", machine, size, {{"block_columns", {8, 16, 32, 64}}, {"block_rows", {1, 2, 4, 8}}});
}

Stored gpu_row_softmax(const RowSoftmax& body, const Extents& extents, const Machine&, const std::vector<Parameter>& values) {
  const GpuTile tile = gpu_tile(values);
  std::vector<std::string> rows = body.out;
  std::erase(rows, body.along);
  // From the lowest number, not from -infinity: a row of -infinity then subtracts a number.
  const auto larger = [&](const Expr& maximum, const Coordinates& at) { return Halide::max(maximum, body.x.at(at)); };
  const Func maximum = reduced_on_gpu({"row_maximum", gpu_grid(rows), {body.along}, std::numeric_limits<float>::lowest(), larger, {}}, extents, tile);
  const auto weight = [&](const Coordinates& at) { return softmax_exp2((body.x.at(at) - value_at(maximum, rows, at)) * log2_e); };
  const auto added = [&](const Expr& sum, const Coordinates& at) { return sum + weight(at); };
  const Func total = reduced_on_gpu({"row_sum", gpu_grid(rows), {body.along}, 0.f, added, {}}, extents, tile);

  Func result("softmax");
  Coordinates at;
  for (const std::string& dim : body.out) at[dim] = Var(dim);
  const Expr sum = value_at(total, rows, at), p = weight(at) * Halide::select(strict_equal(sum, 0.f), 0.f, 1.f / sum);
  result(std::vector<Var>(body.out.rbegin(), body.out.rend())) = body.finish ? body.finish(p, at) : p;
  run_on_gpu(result, gpu_grid(body.out), extents, tile);
  return {result, body.out, log_sum_exp_on_gpu(body.log_sum_exp, maximum, total, rows, extents, tile)};
}

}  // namespace attune
