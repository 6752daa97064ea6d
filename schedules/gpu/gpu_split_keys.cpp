/// Few queries: a block of threads has a split of the keys and all rows that share them, and the states of the splits are merged (Flash-Decoding, Dao
/// et al. 2023).
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_online_softmax_stage.h"
#include "schedules/records/tuned.h"

namespace attune {
namespace {

GpuSoftmaxTiles split_tiles(const std::vector<Parameter>& values) {
  GpuSoftmaxTiles tiles(values);
  tiles.split_tile = static_cast<int>(value_of(values, "split_tile"));
  return tiles;
}

}  // namespace

std::vector<Parameter> gpu_split_keys_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_split_keys", machine, size,
                       {{"split_tile", {64, 128, 256, 512, 1024, 2048}},
                        {"block_columns", {4, 8, 16, 32}},
                        {"block_rows", {1, 2, 4, 8, 16}},
                        {"thread_rows", {1, 2, 4}},
                        {"thread_keys", {2, 4, 8}},
                        {"thread_values", {4, 8, 16}},
                        {"over_chunk", {16, 32, 64}},
                        {"value_chunk", {1, 2, 4}}});
}

std::string gpu_split_keys_problem(const Machine& machine, const std::vector<Parameter>& values) {
  if (std::string problem = multiple_problem("gpu_split_keys", values, "thread_keys", "value_chunk"); !problem.empty()) return problem;
  const GpuSoftmaxTiles tiles = split_tiles(values);
  if (tiles.split_tile % tiles.keys() != 0)
    return "schedule 'gpu_split_keys': split_tile = " + std::to_string(tiles.split_tile) + " is not a multiple of the keys of a block, block_columns * thread_keys = " +
           std::to_string(tiles.keys());
  return shared_memory_problem("gpu_split_keys", machine.device, tiles.shared_elements());
}

BlockSizes gpu_split_keys_blocks(const std::vector<Parameter>& values) {
  const GpuSoftmaxTiles tiles = split_tiles(values);
  return {tiles.queries(), tiles.queries(), tiles.keys(), tiles.keys()};
}

Stored gpu_split_keys(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  return GpuSoftmax(body, extents, machine.device, split_tiles(values)).build();
}

}  // namespace attune
