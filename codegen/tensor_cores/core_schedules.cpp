#include <array>

#include "codegen/tensor_cores/core_schedule.h"

namespace attune::tensor_cores {

std::span<const CoreSchedule* const> core_schedules() {
  static constexpr std::array all = {&mma_online_softmax_schedule, &mma_split_keys_schedule, &mma_gemm_schedule, &wgmma_gemm_schedule,
                                     &wgmma_online_softmax_schedule};
  return all;
}

}  // namespace attune::tensor_cores
