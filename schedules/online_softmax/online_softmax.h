/// The CPU template of `online_softmax`: attention in one loop over key blocks, whose scores exist one tile at a time.
///
/// Per query tile, with s the scores of a key block (base 2), r its rounded-up row maximum and state (o, m, l), which starts at
/// (0, lowest float, 0):
///   p = 2^(s - r)   o = o 2^(m - m') + (p V) 2^(r - m')   l = l 2^(m - m') + (sum p) 2^(r - m')   m' = max(m, r)   out = o / l, 0 if l = 0
/// Powers with whole exponents are exact and cost no polynomial. Masked scores are -inf, whose weight is exactly 0; NaN passes through p.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/block_sizes.h"
#include "schedules/records/parameters.h"

namespace attune {

/// The parameters with what is legal on the machine, and the defaults for calls of a size:
/// query_tile         queries that a thread handles at once
/// key_tile           keys in a block that is wholly visible, or of which nothing is known
/// middle_tile        keys in a wholly visible block of what is left beside those
/// edge_tile          keys in a block that is partly visible, or beyond the last whole middle_tile
/// register_rows      queries whose scores or results are summed in registers at once
/// register_vectors   vectors of such sums per query; edge_tile is a multiple of what they hold
/// copy_values        1: all values of a batch index are copied once, as keys are; 0: they are read in place where they can be, or copied for each
///                    tile of queries. Vectors of copies lie in one line each, wherever the inputs begin
/// prefetch           keys that are copied next are prefetched into the cache of this level (prefetch.h), and the next tile of queries; 0 leaves that
///                    to the machine
std::vector<Parameter> online_softmax_parameters(const Machine& machine, SizeClass size);

/// The same parameters, and what is wrong with values, of another schedule of these tiles.
std::vector<Parameter> softmax_tile_parameters(std::string_view schedule, const Machine& machine, SizeClass size);
std::string softmax_tile_problem(std::string_view schedule, const Machine& machine, SizeClass size, const std::vector<Parameter>& values);

/// What is wrong with `values`, as a sentence; empty if nothing is. What is not given has the default for large calls.
std::string online_softmax_problem(const Machine& machine, const std::vector<Parameter>& values);

/// The stage's result over body.out, scheduled: compute_root, tiles in parallel; the output of a pipeline or the input of other Funcs.
/// Any extents from 1 up are right, and an empty result or no keys (zeros) where the target has no_asserts and no_bounds_query; without
/// them Halide refuses buffers without elements. Storage: tiles, and keys x (key's contracted dims), with copy_values keys x value_depth too, for
/// each batch index of the keys that is in work. Throws Halide::CompileError with the sentence of online_softmax_problem.
Stored online_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// Of the parameters: the blocks of pairs that calls leave out where all is hidden.
BlockSizes online_softmax_blocks(const std::vector<Parameter>& values);
int online_softmax_registers(const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
