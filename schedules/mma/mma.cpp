#include "schedules/mma/mma.h"

namespace attune {
namespace {

std::vector<Parameter> mma_online_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(mma_online_softmax, machine, size,
                       {{"query_tile", {64, 128}},
                        {"key_tile", {16, 32, 64, 128}},
                        {"warp_rows", {16, 32}},
                        {"kept_queries", {0, 1}},
                        {"resident_blocks", {1, 2, 3, 4}}});
}

/// A block has `row_tile` rows and `key_warps` warps, of each of which `stages` blocks of `key_tile`
/// keys or values are in shared memory. As many splits of
/// `split_tile` keys or more as make up `blocks` blocks of threads.
std::vector<Parameter> mma_split_keys_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(mma_split_keys, machine, size,
                       {{"split_tile", {64, 128, 256, 512, 1024, 2048}},
                        {"blocks", {132, 264, 396, 528, 792, 1056, 2112, 4224}},
                        {"row_tile", {16, 32}},
                        {"key_tile", {16, 32, 64}},
                        {"key_warps", {1, 2, 4, 8}},
                        {"stages", {2, 3, 4, 5, 6, 8}},
                        {"resident_blocks", {1, 2, 3, 4}}});
}

std::string mma_split_keys_problem(const Machine&, const std::vector<Parameter>& parameters) {
  const std::int64_t rows = value_of(parameters, "row_tile"), keys = value_of(parameters, "key_tile"), warps = value_of(parameters, "key_warps");
  return rows <= keys * warps ? std::string()
                              : "schedule 'mma_split_keys': row_tile = " + std::to_string(rows) + " queries need as many rows of shared memory as a block's key_tile x key_warps = " +
                                    std::to_string(keys) + " x " + std::to_string(warps);
}

BlockSizes mma_split_keys_blocks(const std::vector<Parameter>& parameters) {
  const std::int64_t rows = value_of(parameters, "row_tile"), keys = value_of(parameters, "key_tile");
  return {rows, rows, keys, keys};
}

/// `key_tile` keys are a product's columns; `stages` blocks of keys and of values are in shared memory.
std::vector<Parameter> wgmma_online_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(wgmma_online_softmax, machine, size,
                       {{"query_tile", {64, 128, 192}},
                        {"key_tile", {32, 64, 96, 112, 128, 160, 176}},
                        {"stages", {2, 3, 4}},
                        {"query_registers", {0, 1}},
                        {"turns", {0, 1}}});
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

std::vector<Parameter> wgmma_gemm_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(wgmma_gemm, machine, size,
                       {{"row_tile", {64, 128, 256}},
                        {"column_tile", {64, 128, 256}},
                        {"group_rows", {64, 128}},
                        {"stages", {3, 4, 5, 6}},
                        {"row_band", {1, 4, 8, 16}}});
}

/// A warpgroup's rows are some of the tile's, and its sums stay in registers.
std::string wgmma_gemm_problem(const Machine&, const std::vector<Parameter>& parameters) {
  if (std::string problem = multiple_problem(wgmma_gemm, parameters, "row_tile", "group_rows"); !problem.empty()) return problem;
  constexpr std::int64_t threads = 128, most_sums = 128, most_threads = 512;
  const std::int64_t rows = value_of(parameters, "group_rows"), columns = value_of(parameters, "column_tile");
  if (rows * columns / threads > most_sums)
    return "schedule 'wgmma_gemm': a thread has " + std::to_string(rows * columns / threads) +
           " sums of group_rows x column_tile = " + std::to_string(rows) + " x " + std::to_string(columns) + "; at most " +
           std::to_string(most_sums) + " stay in registers";
  const std::int64_t all = threads * (value_of(parameters, "row_tile") / rows);
  return all * (rows * columns / threads) <= most_threads * most_sums / 2
             ? std::string()
             : "schedule 'wgmma_gemm': the " + std::to_string(all) + " threads of a block have more sums than registers; smaller tiles have fewer";
}

}  // namespace

std::vector<ScheduleInfo> mma_schedules() {
  constexpr std::string_view on_9_0 = "compute capability 9.0";
  std::vector<ScheduleInfo> all = {
      {.name = mma_online_softmax, .stage = "online_softmax", .parameters = mma_online_softmax_parameters, .blocks = mma_online_softmax_blocks},
      {.name = mma_split_keys,
       .stage = "online_softmax",
       .parameters = mma_split_keys_parameters,
       .problem = mma_split_keys_problem,
       .limited = {SizeClass::few},
       .made_for = SizeClass::few,
       .blocks = mma_split_keys_blocks},
      {.name = mma_gemm, .stage = "gemm", .parameters = mma_gemm_parameters},
      {.name = wgmma_gemm, .stage = "gemm", .parameters = wgmma_gemm_parameters, .problem = wgmma_gemm_problem, .some_devices = on_9_0},
      {.name = wgmma_online_softmax,
       .stage = "online_softmax",
       .parameters = wgmma_online_softmax_parameters,
       .blocks = mma_online_softmax_blocks,
       .some_devices = on_9_0},
  };
  for (ScheduleInfo& schedule : all) {
    schedule.is_for_gpu = true;
    schedule.device = Device::cuda;
  }
  return all;
}

ScheduleInfo mma_schedule(std::string_view name) {
  for (const ScheduleInfo& schedule : mma_schedules())
    if (schedule.name == name) return schedule;
  return {};
}

}  // namespace attune
