#include "schedules/online_softmax/amx_online_softmax.h"

#include "codegen/halide/rewrites/matrix_tiles.h"
#include "schedules/common/matrix_loops.h"
#include "schedules/online_softmax/online_softmax_stage.h"
#include "schedules/records/tuned.h"

namespace attune {
namespace {

constexpr std::string_view amx_name = "amx_online_softmax";

SoftmaxTiles matrix_tiles_from(const Machine& machine, const std::vector<Parameter>& values) {
  const std::vector<Parameter> all = with_values(amx_online_softmax_parameters(machine, SizeClass::large), values);
  const auto value = [&](std::string_view of) { return static_cast<int>(value_of(all, of)); };
  return {.lanes = tile_columns,
          .rows = value("register_rows"),
          .vectors = value("register_vectors"),
          .query_tile = value("query_tile"),
          .key_tile = value("key_tile"),
          .middle_tile = value("middle_tile"),
          .edge_tile = value("edge_tile"),
          .has_bf16_dot = true,
          .copy_values = false,
          .prefetch_keys = PrefetchInto::nowhere,
          .in_matrix_tiles = true};
}

}  // namespace

std::string matrix_tiles_refusal(const OnlineSoftmax& body, const Extents& extents, const Machine& machine) {
  if (body.value && SoftmaxStage(body, extents, matrix_tiles_from(machine, {})).is_of_bf16()) return {};
  return "AMX multiplies queries, keys and values that are tensors of bf16, or may be rounded to it: --type bf16,products=bf16";
}

std::vector<Parameter> amx_online_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(amx_name, machine, size,
                       {{"query_tile", {16, 32, 48, 64, 96, 128, 192, 256}},
                        {"key_tile", {64, 128, 256, 512, 1024}},
                        {"middle_tile", {64, 128, 256, 512, 1024}},
                        {"edge_tile", {32, 64, 128}},
                        {"register_rows", {16, 32}},
                        {"register_vectors", {2, 4}}});
}

std::string amx_online_softmax_problem(const Machine& machine, const std::vector<Parameter>& values) {
  const std::vector<Parameter> declared = amx_online_softmax_parameters(machine, SizeClass::large);
  if (std::string problem = parameter_problem(amx_name, declared, values); !problem.empty()) return problem;
  const std::vector<Parameter> all = with_values(declared, values);
  if (std::string problem = multiple_problem(amx_name, all, "query_tile", "register_rows"); !problem.empty()) return problem;
  if (std::string problem = multiple_problem(amx_name, all, "key_tile", "edge_tile"); !problem.empty()) return problem;
  if (std::string problem = matrix_sums_problem(amx_name, all, "register_rows", "register_vectors"); !problem.empty()) return problem;
  const std::int64_t vectors = value_of(all, "register_vectors"), edge = value_of(all, "edge_tile");
  if (edge % (vectors * tile_columns) == 0) return {};
  return "schedule 'amx_online_softmax': edge_tile = " + std::to_string(edge) + " is not a multiple of the " + std::to_string(vectors * tile_columns) +
         " keys of register_vectors = " + std::to_string(vectors);
}

Stored amx_online_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  if (const std::string problem = amx_online_softmax_problem(machine, values); !problem.empty()) throw Halide::CompileError(problem);
  return SoftmaxStage(body, extents, matrix_tiles_from(machine, values)).build();
}

}  // namespace attune
