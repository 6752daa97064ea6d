#include <algorithm>
#include <map>

#include "codegen/tensor_cores/attention_kernel.h"
#include "codegen/tensor_cores/core_schedule.h"
#include "codegen/tensor_cores/shared_tile.h"
#include "schedules/mma/mma.h"

namespace attune::tensor_cores {
namespace {

AttentionTiles attention_tiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  return {value("query_tile"), value("key_tile"), value("warp_rows"), value("kept_queries") != 0, value("resident_blocks")};
}

/// Sums of 32 rows and more than 64 columns, and queries as long, do not stay in registers, nor do addresses for each pair beside those of 64: a warp
/// has 16 rows then. The parts of f32 take twice as many: queries stay in shared memory, and leave room there for 32 keys at once, or 16.
void keep_in_registers(const CodeRequest& request, std::vector<Parameter>& parameters) {
  constexpr std::int64_t most = 64, few_rows = 16;
  const AttentionStage stage = attention_of(request);
  const bool is_wide = std::max(stage.depth, stage.value_columns) > most;
  std::map<std::string_view, std::int64_t> kept;
  if (stage.element == Element::f32)
    kept = {{"warp_rows", few_rows},
            {"query_tile", 4 * few_rows},
            {"key_tile", is_wide ? 16 : 32},
            {"kept_queries", 0},
            {"resident_blocks", is_wide ? 2 : 1}};
  else if (is_wide || stage.reads_for_pairs)
    kept = {{"warp_rows", few_rows}};
  for (Parameter& parameter : parameters)
    if (const auto value = kept.find(parameter.name); value != kept.end()) parameter.value = value->second;
}

int attention_shared_bytes(const CodeRequest& request, const std::vector<Parameter>& parameters) {
  return shared_bytes(attention_tiles(parameters), attention_of(request));
}

Launch build_attention_kernels(Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const AttentionStage stage = attention_of(request);
  const AttentionTiles tiles = attention_tiles(parameters);
  Launch launch{{{stage.batch, 1}, {{stage.queries}, tiles.query_tile}},
                tiles.threads(),
                attention_shared_bytes(request, parameters),
                {},
                "attention",
                stage.aligned_tensors(request.step)};
  launch.aligned_elements = chunk_elements(stage.element);
  if (stage.may_be_aligned()) launch.aligned_kernel = "attention_of_aligned_rows";
  if (!launch.aligned_kernel.empty()) build_attention(builder, launch.aligned_kernel, request.plan, request.step, stage, tiles, true);
  build_attention(builder, launch.kernel, request.plan, request.step, stage, tiles, false);
  return launch;
}

}  // namespace

std::string attention_refusal(const CodeRequest& request) { return attention_stage(request.plan, request.step).problem; }
AttentionStage attention_of(const CodeRequest& request) { return *attention_stage(request.plan, request.step).stage; }

const CoreSchedule mma_online_softmax_schedule = {mma_online_softmax, attention_refusal, keep_in_registers, attention_shared_bytes,
                                                  build_attention_kernels};

}  // namespace attune::tensor_cores
