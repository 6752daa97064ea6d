#include <algorithm>

#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/records/tuned.h"

using Halide::Expr;

namespace attune {

std::vector<Parameter> gpu_gemm_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_gemm", machine, size,
                       {{"block_columns", {8, 16, 32}}, {"block_rows", {4, 8, 16}}, {"thread_columns", {1, 2, 4, 8}}, {"thread_rows", {1, 2, 4, 8}}});
}

Stored gpu_gemm(const Gemm& body, const Extents& extents, const Machine&, const std::vector<Parameter>& values) {
  const auto is_row = [&](const std::string& dim) { return std::ranges::find(body.rows, dim) != body.rows.end(); };
  const auto step = [&](const Expr& sum, const Coordinates& at) { return sum + body.a.at(at) * body.b.at(at); };
  return {reduced_on_gpu({"gemm", gpu_grid(body.out, is_row), body.over, 0.f, step, body.finish}, extents, gpu_tile(values)), body.out};
}

}  // namespace attune
