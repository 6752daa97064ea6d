/// What schedules share whose sums live in tile registers (codegen/halide/rewrites/matrix_tiles.h).
#pragma once

#include <Halide.h>

#include <string>
#include <string_view>
#include <vector>

#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// Whether the machine has such registers.
bool has_matrix_tiles(const Machine& machine);

/// What is wrong if `rows` by `vectors` of 16 are more tiles of sums than there are registers for, as a sentence; empty if they are not.
std::string matrix_sums_problem(std::string_view schedule, const std::vector<Parameter>& parameters, std::string_view rows, std::string_view vectors);

/// Cuts columns and rows of a function of both into tiles, unrolled around the loops of one tile. Gives those loops, inner ones first.
std::vector<Halide::VarOrRVar> in_tiles(Halide::Stage stage, const Halide::Var& column, const Halide::Var& row);

/// The loops of a sum in tiles: `within` are within a tile's step, inner ones first, `outer` around all tiles.
void sum_in_tiles(Halide::Stage update, const Halide::Var& column, const Halide::Var& row, std::vector<Halide::VarOrRVar> within,
                  const std::vector<Halide::VarOrRVar>& outer);

}  // namespace attune
