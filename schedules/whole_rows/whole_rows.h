/// The CPU template of `online_softmax` for tiny calls, whose score rows fit into the first-level cache: every query takes two passes over
/// the keys, which are read where they lie. Nothing is packed, there are no blocks of keys, and no state is carried along.
///
///   s_j = log2(e) score_j, -inf where not visible;  m = max_j s_j;  w_j = 2^(s_j - m)
///   out = sum_j weight(w_j) value_j / sum_j w_j, 0 if the divisor is 0
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/block_sizes.h"
#include "schedules/records/parameters.h"

namespace attune {

/// The parameters with what is legal on the machine, and the defaults for calls of a size:
/// register_rows      queries that share what they load; calls of fewer queries take them one by one
/// register_keys      keys whose products with these queries are summed in registers at once
/// register_vectors   vectors of each of their results that are summed in registers at once
std::vector<Parameter> whole_rows_parameters(const Machine& machine, SizeClass size);

/// The stage's result over body.out, scheduled: compute_root, batch indices in parallel; otherwise as online_softmax. The arithmetic is
/// f32 whatever the storage. Storage: register_rows rows of scores for each batch index that is in work.
Stored whole_rows(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// Of the parameters: the blocks of pairs that calls leave out where all is hidden.
BlockSizes whole_rows_blocks(const std::vector<Parameter>& values);

}  // namespace attune
