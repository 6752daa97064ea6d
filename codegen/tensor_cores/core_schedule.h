/// Schedules of tensor cores: which steps each takes, and the kernels that it builds. One is a file, which defines it, and a line of the list in
/// core_schedules.cpp; its parameters are declared in schedules/mma/.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/steps/code_generator.h"
#include "codegen/tensor_cores/attention_stage.h"
#include "codegen/tensor_cores/launcher.h"
#include "codegen/tensor_cores/number.h"

namespace attune::tensor_cores {

struct CoreSchedule {
  std::string_view name;  ///< of schedules/mma/
  /// Of a step of its kind: why it does not take it for calls of the size, as a sentence; empty if it does.
  std::string (*refusal)(const CodeRequest& request);
  /// Changes what was chosen of parameters to what fits the step, unless a user chose it; null: nothing.
  void (*fit)(const CodeRequest& request, std::vector<Parameter>& parameters);
  int (*shared_bytes)(const CodeRequest& request, const std::vector<Parameter>& parameters);
  /// Builds the kernels in the module at whose end `builder` stands.
  Launch (*build)(Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters);
};

extern const CoreSchedule mma_online_softmax_schedule, mma_split_keys_schedule, mma_gemm_schedule, wgmma_gemm_schedule, wgmma_online_softmax_schedule;

/// Why tensor cores do not take attention, or a product.
std::string attention_refusal(const CodeRequest& request);
/// The attention of a request that is not refused.
AttentionStage attention_of(const CodeRequest& request);
std::string gemm_refusal(const CodeRequest& request);

/// Those for all devices stand before those for some.
std::span<const CoreSchedule* const> core_schedules();

}  // namespace attune::tensor_cores
