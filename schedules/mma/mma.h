/// Schedules of tensor cores: their parameters. What they make stands in codegen/tensor_cores/, where no template of Halide does.
#pragma once

#include <string_view>
#include <vector>

#include "schedules/records/choice.h"

namespace attune {

inline constexpr std::string_view mma_online_softmax = "mma_online_softmax", mma_split_keys = "mma_split_keys", mma_gemm = "mma_gemm",
                                  wgmma_gemm = "wgmma_gemm", wgmma_online_softmax = "wgmma_online_softmax";

std::vector<ScheduleInfo> mma_schedules();
/// The one of these names.
ScheduleInfo mma_schedule(std::string_view name);

}  // namespace attune
