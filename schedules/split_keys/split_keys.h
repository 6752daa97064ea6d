/// The CPU template of `online_softmax` for few queries: keys and values are read where they lie, and as often as all queries of all
/// heads that share them fill a tile. Keys are split; the splits' states are merged at the end.
///
/// The arithmetic is that of online_softmax.h with a state (o, m, l) for each split s. With M = max_s m_s:
///   out = sum_s o_s 2^(m_s - M) / sum_s l_s 2^(m_s - M), 0 if the divisor is 0
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/block_sizes.h"
#include "schedules/records/parameters.h"

namespace attune {

/// The parameters with what is legal on the machine, and the defaults for calls of a size:
/// split_tile         keys that a thread handles at once
/// key_tile           keys whose scores exist at once; split_tile is a multiple
/// register_rows      rows (queries, of all heads that share the keys) in a group, which takes each key and value once
/// row_groups         groups of rows that take a vector of keys, or its values, one after the other before the next: a first-level cache holds those
/// register_keys      keys whose products with a tile of rows are summed in registers at once; twice as many keys of bf16
/// register_vectors   vectors of results per row that are summed in registers at once; of bf16 values at most so many that all rows fit too
/// prefetch           later keys and values are prefetched into the cache of this level (prefetch.h); 0 leaves that to the machine
std::vector<Parameter> split_keys_parameters(const Machine& machine, SizeClass size);

/// What is wrong with `values`, as a sentence; empty if nothing is.
std::string split_keys_problem(const Machine& machine, const std::vector<Parameter>& values);

/// The stage's result over body.out, scheduled: compute_root, batch indices of the keys and their splits in parallel; otherwise as
/// online_softmax. Storage: a state of rows x value_depth for each split of the batch indices that are in work, and tiles.
Stored split_keys(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// Of the parameters: the blocks of pairs that calls leave out where all is hidden.
BlockSizes split_keys_blocks(const std::vector<Parameter>& values);

}  // namespace attune
