#include "schedules/schedules.h"

#include <array>

#include "schedules/chunked_scan/chunked_scan.h"
#include "schedules/common/matrix_loops.h"
#include "schedules/common/scores.h"
#include "schedules/common/tiles.h"
#include "schedules/gemm/amx_gemm.h"
#include "schedules/gemm/gemm.h"
#include "schedules/gemm/narrow_gemm.h"
#include "schedules/gpu/gpu.h"
#include "schedules/mma/mma.h"
#include "schedules/online_softmax/amx_online_softmax.h"
#include "schedules/online_softmax/online_softmax.h"
#include "schedules/pointwise/pointwise.h"
#include "schedules/row_softmax/row_softmax.h"
#include "schedules/shared_keys/shared_keys.h"
#include "schedules/split_keys/split_keys.h"
#include "schedules/whole_rows/whole_rows.h"

namespace attune {
namespace {

using Limits = std::optional<std::vector<ExtentLimit>>;

Limits queries_up_to(const OnlineSoftmax& body, std::int64_t small_up_to) { return {{{body.queries, 0, small_up_to}}}; }
Limits few_queries_of_many_keys(const OnlineSoftmax& body, std::int64_t small_up_to) {
  return limits_of_few(body.queries, body.keys, small_up_to);
}
/// Rows of fewer heads wait for memory, which split_keys reads faster.
Limits few_queries_of_many_heads(const OnlineSoftmax& body, std::int64_t small_up_to) {
  constexpr std::int64_t many_heads = 24;
  const std::vector<std::string> rows = dims_of_rows(body);
  if (rows.size() != 2) return std::nullopt;
  std::vector<ExtentLimit> limits = limits_of_few(body.queries, body.keys, small_up_to);
  limits.push_back({rows[0], many_heads});
  return limits;
}
Limits queries_and_keys_up_to(const OnlineSoftmax& body, std::int64_t small_up_to) {
  return {{{body.queries, 0, small_up_to}, {body.keys, 0, small_up_to}}};
}
/// One limit for all row dims together is not needed: the tiles of small calls are right for any extents, only slower. A matrix times a vector has one row.
Limits rows_up_to(const Gemm& body, std::int64_t small_up_to) {
  std::vector<ExtentLimit> limits;
  for (const std::string& dim : body.rows) limits.push_back({dim, 0, small_up_to});
  return limits;
}
/// Of several dims of columns, as heads and their features, each may be small, and the product large.
Limits columns_up_to(const Gemm& body, std::int64_t small_up_to) {
  if (body.columns.size() != 1 || body.rows.empty()) return std::nullopt;
  return {{{body.columns[0], 0, small_up_to}}};
}
Limits tokens_up_to(const RecurrenceBody& body, std::int64_t small_up_to) { return {{{body.along, 0, small_up_to}}}; }

constexpr std::array online_softmax_sizes = {
    SizeOfCall<OnlineSoftmax>{SizeClass::tiny, queries_and_keys_up_to},
    SizeOfCall<OnlineSoftmax>{SizeClass::shared, few_queries_of_many_heads},
    SizeOfCall<OnlineSoftmax>{SizeClass::few, few_queries_of_many_keys},
    SizeOfCall<OnlineSoftmax>{SizeClass::small, queries_up_to},
};
constexpr std::array recurrence_sizes = {SizeOfCall<RecurrenceBody>{SizeClass::small, tokens_up_to}};
constexpr std::array gemm_sizes = {SizeOfCall<Gemm>{SizeClass::few, columns_up_to}, SizeOfCall<Gemm>{SizeClass::small, rows_up_to}};

constexpr std::array online_softmax_schedules = {
    Schedule<OnlineSoftmax>{.name = "online_softmax",
                            .parameters = online_softmax_parameters,
                            .problem = online_softmax_problem,
                            .build = online_softmax,
                            .blocks = online_softmax_blocks,
                            .registers = online_softmax_registers},
    Schedule<OnlineSoftmax>{.name = "amx_online_softmax",
                            .parameters = amx_online_softmax_parameters,
                            .problem = amx_online_softmax_problem,
                            .build = amx_online_softmax,
                            .blocks = online_softmax_blocks,
                            .made_for = SizeClass::large,
                            .needs = has_matrix_tiles,
                            .refusal = matrix_tiles_refusal},
    Schedule<OnlineSoftmax>{.name = "split_keys",
                            .parameters = split_keys_parameters,
                            .problem = split_keys_problem,
                            .build = split_keys,
                            .blocks = split_keys_blocks,
                            .made_for = SizeClass::few},
    Schedule<OnlineSoftmax>{.name = "shared_keys",
                            .parameters = shared_keys_parameters,
                            .problem = shared_keys_problem,
                            .build = shared_keys,
                            .blocks = shared_keys_blocks,
                            .made_for = SizeClass::shared,
                            .registers = online_softmax_registers,
                            .refusal = shared_keys_refusal},
    Schedule<OnlineSoftmax>{.name = "whole_rows",
                            .parameters = whole_rows_parameters,
                            .build = whole_rows,
                            .blocks = whole_rows_blocks,
                            .made_for = SizeClass::tiny},
    Schedule<OnlineSoftmax>{.name = "gpu_online_softmax",
                            .is_for_gpu = true,
                            .parameters = gpu_online_softmax_parameters,
                            .problem = gpu_online_softmax_problem,
                            .build = gpu_online_softmax,
                            .blocks = gpu_online_softmax_blocks},
    Schedule<OnlineSoftmax>{.name = "gpu_split_keys",
                            .is_for_gpu = true,
                            .parameters = gpu_split_keys_parameters,
                            .problem = gpu_split_keys_problem,
                            .build = gpu_split_keys,
                            .blocks = gpu_split_keys_blocks,
                            .made_for = SizeClass::few},
};
constexpr std::array gemm_schedules = {
    Schedule<Gemm>{.name = "gemm", .parameters = gemm_parameters, .build = gemm, .registers = gemm_registers},
    Schedule<Gemm>{.name = "amx_gemm",
                   .parameters = amx_gemm_parameters,
                   .problem = amx_gemm_problem,
                   .build = amx_gemm,
                   .made_for = SizeClass::large,
                   .needs = has_matrix_tiles,
                   .refusal = matrix_product_refusal},
    Schedule<Gemm>{.name = "narrow_gemm",
                   .parameters = narrow_gemm_parameters,
                   .build = narrow_gemm,
                   .made_for = SizeClass::few,
                   .registers = narrow_gemm_registers,
                   .refusal = narrow_gemm_refusal},
    Schedule<Gemm>{.name = "gpu_gemm",
                   .is_for_gpu = true,
                   .parameters = gpu_gemm_parameters,
                   .problem = gpu_gemm_problem,
                   .build = gpu_gemm},
};
constexpr std::array row_softmax_schedules = {
    Schedule<RowSoftmax>{.name = "row_softmax", .parameters = row_softmax_parameters, .build = row_softmax},
    Schedule<RowSoftmax>{.name = "gpu_row_softmax",
                         .is_for_gpu = true,
                         .parameters = gpu_row_softmax_parameters,
                         .build = gpu_row_softmax},
};
constexpr std::array recurrence_schedules = {
    Schedule<RecurrenceBody>{.name = "chunked_scan",
                             .parameters = chunked_scan_parameters,
                             .problem = chunked_scan_problem,
                             .build = chunked_scan},
    Schedule<RecurrenceBody>{.name = "gpu_scan",
                             .is_for_gpu = true,
                             .parameters = gpu_scan_parameters,
                             .build = gpu_scan},
};
constexpr std::array pointwise_schedules = {
    Schedule<Pointwise>{.name = "pointwise", .parameters = pointwise_parameters, .build = pointwise},
    Schedule<Pointwise>{.name = "gpu_pointwise",
                        .is_for_gpu = true,
                        .parameters = gpu_pointwise_parameters,
                        .build = gpu_pointwise},
};

}  // namespace

template <>
std::span<const Schedule<OnlineSoftmax>> schedules() { return online_softmax_schedules; }
template <>
std::span<const Schedule<Gemm>> schedules() { return gemm_schedules; }
template <>
std::span<const Schedule<RowSoftmax>> schedules() { return row_softmax_schedules; }
template <>
std::span<const Schedule<RecurrenceBody>> schedules() { return recurrence_schedules; }
template <>
std::span<const Schedule<Pointwise>> schedules() { return pointwise_schedules; }

template <>
std::span<const SizeOfCall<OnlineSoftmax>> sizes_of_calls() { return online_softmax_sizes; }
template <>
std::span<const SizeOfCall<Gemm>> sizes_of_calls() { return gemm_sizes; }
template <>
std::span<const SizeOfCall<RowSoftmax>> sizes_of_calls() { return {}; }
template <>
std::span<const SizeOfCall<RecurrenceBody>> sizes_of_calls() { return recurrence_sizes; }
template <>
std::span<const SizeOfCall<Pointwise>> sizes_of_calls() { return {}; }

Stored built(const Schedule<OnlineSoftmax>& schedule, const OnlineSoftmax& body, const Extents& extents, const Machine& machine,
             const std::vector<Parameter>& parameters) {
  if (!body.is_of_rows) return schedule.build(body, extents, machine, parameters);
  const std::string column = "column of ones";  // no dim of a graph has such a name
  Extents with_column = extents;
  with_column[column] = 1;
  OnlineSoftmax whole = body;
  whole.value = {{}, [](const Coordinates&) { return Lowered::real(1); }};
  whole.value_depth = column;
  whole.out.push_back(column);
  Stored sums = schedule.build(whole, with_column, machine, parameters);
  const auto element = [sums, column](Coordinates at) {
    at[column] = 0;
    return Lowered{element_of(sums, at)};
  };
  const Pointwise without_column{{body.out, element}, body.out};
  Stored stored = machine.is_gpu() ? gpu_pointwise(without_column, extents, machine, gpu_pointwise_parameters(machine, SizeClass::large))
                                   : pointwise(without_column, extents, machine, pointwise_parameters(machine, SizeClass::large));
  stored.beside = std::move(sums.beside);
  stored.numbers = std::move(sums.numbers);
  return stored;
}

std::vector<ScheduleInfo> all_schedules() {
  std::vector<ScheduleInfo> all;
  [&]<class... Body>(std::type_identity<std::variant<Body...>>) {
    const auto append = [&]<class B>(std::type_identity<B>) {
      for (const Schedule<B>& schedule : schedules<B>()) all.push_back(info_of(schedule, B::name));
    };
    (append(std::type_identity<Body>{}), ...);
  }(std::type_identity<StageBody>{});
  for (const ScheduleInfo& schedule : mma_schedules()) all.push_back(schedule);
  return all;
}

}  // namespace attune
