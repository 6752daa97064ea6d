#include "schedules/gpu/gpu_log_sum_exp.h"

#include "schedules/common/row_result.h"

using Halide::Var;

namespace attune {

std::vector<StoredBeside> log_sum_exp_on_gpu(const std::optional<RowResult>& result, const Halide::Func& maximum, const Halide::Func& total,
                                             const std::vector<std::string>& rows, const Extents& extents, const GpuTile& tile) {
  if (!result) return {};
  Coordinates at;
  for (const std::string& dim : result->out) at[dim] = Var(dim);
  Halide::Func func("log_sum_exp");
  func(std::vector<Var>(result->out.rbegin(), result->out.rend())) =
      finished(*result, log_sum_exp_of(value_at(maximum, rows, at), value_at(total, rows, at)), at);
  run_on_gpu(func, gpu_grid(result->out), extents, tile);
  return {{func, result->out}};
}

}  // namespace attune
