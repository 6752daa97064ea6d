#include <algorithm>
#include <map>

#include "codegen/tensor_cores/core_schedule.h"
#include "codegen/tensor_cores/shared_tile.h"
#include "codegen/tensor_cores/split_keys_kernel.h"
#include "schedules/mma/mma.h"

namespace attune::tensor_cores {
namespace {

SplitKeysTiles split_tiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  const int rows = value("row_tile");
  return {{rows, value("key_tile"), rows, true, value("resident_blocks")}, value("key_warps"), value("stages")};
}

/// Rows of 128 bytes come 32 at once, and longer ones 16; of rows of 512 bytes two warps' are as much as a block may share. The parts of f32 take the
/// registers of a third block.
void fit_row_bytes(const CodeRequest& request, std::vector<Parameter>& parameters) {
  const AttentionStage stage = attention_of(request);
  const int bytes = row_pitch(stage.element, std::max(stage.depth, stage.value_columns)) * element_bytes(stage.element);
  std::map<std::string_view, std::int64_t> fitting{{"key_tile", bytes > line_bytes ? 16 : 32}, {"key_warps", bytes > 2 * line_bytes ? 2 : 4}};
  if (stage.element == Element::f32) fitting.emplace("resident_blocks", 2);
  for (Parameter& parameter : parameters)
    if (const auto value = fitting.find(parameter.name); value != fitting.end()) parameter.value = value->second;
}

int split_shared_bytes(const CodeRequest& request, const std::vector<Parameter>& parameters) {
  return shared_bytes(split_tiles(parameters), attention_of(request));
}

Launch build_split_kernels(Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const AttentionStage stage = attention_of(request);
  const SplitKeysTiles tiles = split_tiles(parameters);
  Launch launch{{{dims_of_keys(stage), 1}, {dims_of_rows(stage), tiles.query_tile}},
                tiles.block_threads(),
                std::max(shared_bytes(tiles, stage), shared_bytes(merge_tiles(tiles, stage), stage)),
                {},
                "split_keys",
                stage.aligned_tensors(request.step)};
  launch.aligned_elements = chunk_elements(stage.element);
  if (stage.may_be_aligned()) launch.aligned_kernel = "split_keys_of_aligned_rows";
  Launch::Splits& splits = launch.splits.emplace();
  splits.dim = stage.keys;
  splits.least = static_cast<int>(value_of(parameters, "split_tile"));
  splits.blocks = static_cast<int>(value_of(parameters, "blocks"));
  splits.state_bytes = state_bytes(tiles, stage);
  splits.merge_threads = merge_tiles(tiles, stage).block_threads();
  for (const std::string& name : {launch.kernel, launch.aligned_kernel})
    if (!name.empty())
      build_split_keys(builder, name, name + splits.merge, request.plan, request.step, stage, tiles, /*is_aligned=*/name == launch.aligned_kernel);
  return launch;
}

}  // namespace

const CoreSchedule mma_split_keys_schedule = {mma_split_keys, attention_refusal, fit_row_bytes, split_shared_bytes, build_split_kernels};

}  // namespace attune::tensor_cores
