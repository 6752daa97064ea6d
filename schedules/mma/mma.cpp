#include "schedules/mma/mma.h"

namespace attune {
namespace {

std::vector<Parameter> mma_online_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(mma_online_softmax, machine, size, {{"query_tile", {64, 128}}, {"key_tile", {32, 64, 128}}, {"warp_rows", {16, 32}}});
}

BlockSizes mma_online_softmax_blocks(const std::vector<Parameter>& parameters) {
  const std::int64_t queries = value_of(parameters, "query_tile"), keys = value_of(parameters, "key_tile");
  return {queries, queries, keys, keys};
}

std::vector<Parameter> mma_gemm_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(
      mma_gemm, machine, size,
      {{"row_tile", {64, 128}}, {"column_tile", {64, 128}}, {"warp_rows", {32, 64}}, {"warp_columns", {32, 64}}, {"stages", {2, 3}}});
}

}  // namespace

std::vector<ScheduleInfo> mma_schedules() {
  ScheduleInfo attention{mma_online_softmax, "online_softmax", true, mma_online_softmax_parameters};
  attention.blocks = mma_online_softmax_blocks;
  ScheduleInfo gemm{mma_gemm, "gemm", true, mma_gemm_parameters};
  attention.device = gemm.device = Device::cuda;
  return {attention, gemm};
}

ScheduleInfo mma_schedule(std::string_view name) {
  for (const ScheduleInfo& schedule : mma_schedules())
    if (schedule.name == name) return schedule;
  return {};
}

}  // namespace attune
