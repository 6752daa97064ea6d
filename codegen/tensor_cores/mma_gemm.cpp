#include "codegen/tensor_cores/core_schedule.h"
#include "codegen/tensor_cores/gemm_kernel.h"
#include "schedules/mma/mma.h"

namespace attune::tensor_cores {
namespace {

GemmTiles gemm_tiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  return {value("row_tile"), value("column_tile"), value("warp_rows"), value("warp_columns"), value("stages")};
}

int gemm_shared_bytes(const CodeRequest&, const std::vector<Parameter>& parameters) { return gemm_tiles(parameters).shared_bytes(); }

Launch build_gemm_kernels(Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const GemmStage stage = *gemm_stage(request.plan, request.step).stage;
  const GemmTiles tiles = gemm_tiles(parameters);
  const Launch launch{{{stage.batch, 1}, {stage.rows, tiles.row_tile}, {stage.columns, tiles.column_tile}},
                      tiles.threads(),
                      tiles.shared_bytes(),
                      "gemm_of_aligned_rows",
                      "gemm",
                      {stage.a.input, stage.b.input},
                      stage.aligned_dims()};
  build_gemm(builder, launch.aligned_kernel, request.plan, request.step, stage, tiles, true);
  build_gemm(builder, launch.kernel, request.plan, request.step, stage, tiles, false);
  return launch;
}

}  // namespace

std::string gemm_refusal(const CodeRequest& request) { return gemm_stage(request.plan, request.step).problem; }

const CoreSchedule mma_gemm_schedule = {mma_gemm, gemm_refusal, nullptr, gemm_shared_bytes, build_gemm_kernels};

}  // namespace attune::tensor_cores
