#include "codegen/tensor_cores/core_schedule.h"
#include "codegen/tensor_cores/warpgroup_attention.h"
#include "schedules/mma/mma.h"

namespace attune::tensor_cores {
namespace {

WarpgroupAttentionTiles attention_tiles_of(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  return {{value("query_tile"), value("key_tile"), WarpgroupAttentionTiles::rows},
          value("stages"),
          value("query_registers") != 0,
          value("turns") != 0};
}

std::string warpgroup_attention_refusal(const CodeRequest& request) {
  if (std::string refusal = attention_refusal(request); !refusal.empty()) return refusal;
  const AttentionStage stage = attention_of(request);
  if (stage.element == Element::f32) return "warpgroups multiply elements of 16 bits";
  return stage.may_be_aligned() ? "" : "warpgroups multiply rows of a multiple of 8 columns";
}

/// Beside scores of more keys, what is read for each pair does not stay in registers; and with sums of up to 64 columns, two blocks of
/// threads with scores of as few keys have the registers of a multiprocessor, so that one multiplies while the other makes weights. With
/// masks or changes of the scores they have them without turns alone, whose code holds more at once. Then blocks of one warpgroup are faster: there
/// are more of them, and masks hide less of what they compute.
void fit_registers(const CodeRequest& request, std::vector<Parameter>& parameters) {
  constexpr std::int64_t few = 64, more = 96, one_warpgroup = 64;
  const AttentionStage stage = attention_of(request);
  const bool has_few_columns = std::max(stage.depth, stage.value_columns) <= few;
  if (!has_few_columns && !stage.reads_for_pairs) return;
  const bool is_changed = stage.score != stage.product, is_without_turns = has_few_columns && (is_changed || !stage.masks.empty());
  const bool has_one_warpgroup = is_without_turns && !stage.reads_for_pairs;
  for (Parameter& parameter : parameters) {
    if (parameter.name == "key_tile") parameter.value = std::min(parameter.value, has_one_warpgroup && !is_changed ? more : few);
    if (parameter.name == "query_tile" && has_one_warpgroup) parameter.value = one_warpgroup;
    if (parameter.name == "turns" && is_without_turns) parameter.value = 0;
  }
}

int warpgroup_attention_bytes(const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const AttentionStage stage = attention_of(request);
  return shared_bytes(attention_tiles_of(parameters), stage.depth, stage.value_columns);
}

Launch build_warpgroup_kernel(Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const AttentionStage stage = attention_of(request);
  const WarpgroupAttentionTiles tiles = attention_tiles_of(parameters);
  const std::string name = "attention_of_warpgroups";
  build_warpgroup_attention(builder, name, request.plan, request.step, stage, tiles);
  return {{{stage.batch, 1}, {{stage.queries}, tiles.query_tile}},
          tiles.threads(),
          warpgroup_attention_bytes(request, parameters),
          name,
          {},
          stage.aligned_tensors(request.step)};
}

}  // namespace

const CoreSchedule wgmma_online_softmax_schedule = {wgmma_online_softmax, warpgroup_attention_refusal, fit_registers,
                                                    warpgroup_attention_bytes, build_warpgroup_kernel};

}  // namespace attune::tensor_cores
