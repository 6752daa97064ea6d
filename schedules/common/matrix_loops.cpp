#include "schedules/common/matrix_loops.h"

#include <cstdint>

#include "codegen/halide/rewrites/matrix_tiles.h"

using Halide::Var;
using Halide::VarOrRVar;

namespace attune {
namespace {

/// Of the eight registers four hold sums: the others hold operands while the next ones are loaded.
constexpr std::int64_t most_tiles_of_sums = 4;

}  // namespace

bool has_matrix_tiles(const Machine& machine) { return machine.has_bf16_tiles; }

std::string matrix_sums_problem(std::string_view schedule, const std::vector<Parameter>& parameters, std::string_view rows, std::string_view vectors) {
  const std::int64_t row_count = value_of(parameters, rows), vector_count = value_of(parameters, vectors);
  if (row_count / tile_rows * vector_count <= most_tiles_of_sums) return {};
  const auto named = [](std::string_view name, std::int64_t value) { return std::string(name) + " = " + std::to_string(value); };
  return "schedule '" + std::string(schedule) + "': " + named(rows, row_count) + " by " + named(vectors, vector_count) +
         " are more than the 4 tiles of 16 x 16 that sums have";
}

std::vector<VarOrRVar> in_tiles(Halide::Stage stage, const Var& column, const Var& row) {
  const Var column_tile("column_tile-"), column_in_tile("column_in_tile-"), row_tile("row_tile-"), row_in_tile("row_in_tile-");
  stage.split(column, column_tile, column_in_tile, tile_columns, Halide::TailStrategy::RoundUp);
  stage.split(row, row_tile, row_in_tile, tile_rows, Halide::TailStrategy::RoundUp);
  stage.vectorize(column_in_tile).vectorize(row_in_tile).unroll(column_tile).unroll(row_tile);
  return {column_in_tile, row_in_tile, column_tile, row_tile};
}

void sum_in_tiles(Halide::Stage update, const Var& column, const Var& row, std::vector<VarOrRVar> within, const std::vector<VarOrRVar>& outer) {
  const std::vector<VarOrRVar> tiles = in_tiles(update, column, row);
  within.insert(within.end(), tiles.begin(), tiles.end());
  within.insert(within.end(), outer.begin(), outer.end());
  update.reorder(within);
}

}  // namespace attune
