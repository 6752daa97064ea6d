#include "codegen/tensor_cores/core_schedule.h"
#include "codegen/tensor_cores/gemm_kernel.h"
#include "schedules/mma/mma.h"

namespace attune::tensor_cores {
namespace {

GemmTiles gemm_tiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  return {value("row_tile"), value("column_tile"), value("warp_rows"), value("warp_columns"), value("stages")};
}

GemmStage gemm_of(const CodeRequest& request) { return *gemm_stage(request.plan, request.step).stage; }

int gemm_shared_bytes(const CodeRequest& request, const std::vector<Parameter>& parameters) {
  return gemm_tiles(parameters).shared_bytes(gemm_of(request));
}

/// Beside 64 x 64 sums of a warp the parts of split operands do not stay in registers. A block of 128 threads then leaves room for a second.
void keep_parts_in_registers(const CodeRequest& request, std::vector<Parameter>& parameters) {
  constexpr std::int64_t few = 32;
  if (!gemm_of(request).is_split() || value_of(parameters, "warp_rows") <= few) return;
  for (Parameter& parameter : parameters) {
    if (parameter.name == "warp_columns") parameter.value = few;
    if (parameter.name == "column_tile") parameter.value = 2 * few;
  }
}

Launch build_gemm_kernels(Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const GemmStage stage = gemm_of(request);
  const GemmTiles tiles = gemm_tiles(parameters);
  const Launch launch{{{stage.batch, 1}, {stage.rows, tiles.row_tile}, {stage.columns, tiles.column_tile}},
                      tiles.threads(),
                      tiles.shared_bytes(stage),
                      "gemm_of_aligned_rows",
                      "gemm",
                      {stage.a.input, stage.b.input},
                      stage.aligned_dims(),
                      stage.aligned_elements()};
  build_gemm(builder, launch.aligned_kernel, request.plan, request.step, stage, tiles, true);
  build_gemm(builder, launch.kernel, request.plan, request.step, stage, tiles, false);
  return launch;
}

}  // namespace

std::string gemm_refusal(const CodeRequest& request) { return gemm_stage(request.plan, request.step).problem; }

const CoreSchedule mma_gemm_schedule = {mma_gemm, gemm_refusal, keep_parts_in_registers, gemm_shared_bytes, build_gemm_kernels};

}  // namespace attune::tensor_cores
