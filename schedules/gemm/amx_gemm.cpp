#include "schedules/gemm/amx_gemm.h"

#include "codegen/halide/rewrites/matrix_tiles.h"
#include "schedules/common/matrix_loops.h"
#include "schedules/gemm/gemm_product.h"
#include "schedules/records/tuned.h"

namespace attune {
namespace {

constexpr std::string_view amx_gemm_name = "amx_gemm";
static_assert(tile_columns == tile_pairs);  // vectors of columns, and blocks of contracted words

}  // namespace

std::string matrix_product_refusal(const Gemm& body, const Extents& extents, const Machine&) {
  return factor_of_bf16(body, extents) ? "" : "AMX multiplies tensors of bf16, or what may be rounded to it: --type bf16,products=bf16";
}

std::vector<Parameter> amx_gemm_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(amx_gemm_name, machine, size,
                       {{"row_tile", {16, 32}}, {"column_vectors", {1, 2, 4}}, {"row_block", {1, 2, 4, 8, 16, 32}}, {"prefetch", {0, 1, 2}}});
}

std::string amx_gemm_problem(const Machine& machine, const std::vector<Parameter>& values) {
  const std::vector<Parameter> declared = amx_gemm_parameters(machine, SizeClass::large);
  if (std::string problem = parameter_problem(amx_gemm_name, declared, values); !problem.empty()) return problem;
  return matrix_sums_problem(amx_gemm_name, with_values(declared, values), "row_tile", "column_vectors");
}

Stored amx_gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  if (const std::string problem = amx_gemm_problem(machine, values); !problem.empty()) throw Halide::CompileError(problem);
  const std::vector<Parameter> all = with_values(amx_gemm_parameters(machine, SizeClass::large), values);
  const GemmTile tile{.rows = static_cast<int>(value_of(all, "row_tile")),
                      .vectors = static_cast<int>(value_of(all, "column_vectors")),
                      .lanes = tile_columns,
                      .row_block = static_cast<int>(value_of(all, "row_block")),
                      .prefetch = static_cast<PrefetchInto>(value_of(all, "prefetch")),
                      .has_bf16_dot = true,
                      .in_matrix_tiles = true};
  return packed_gemm(product_of(body, extents), tile);
}

}  // namespace attune
