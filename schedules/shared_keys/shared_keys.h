/// The CPU template of `online_softmax` for few queries of many heads that share their keys, as latent attention's absorbed form has them: the queries of
/// all these heads are rows of one tile, which take a block of keys together. The tiles are those of online_softmax.h.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/block_sizes.h"
#include "schedules/records/parameters.h"

namespace attune {

/// Those of online_softmax.h, where a query is a row: one of any head.
std::vector<Parameter> shared_keys_parameters(const Machine& machine, SizeClass size);
std::string shared_keys_problem(const Machine& machine, const std::vector<Parameter>& values);

/// Why the stage cannot be made, in words; empty if it can: keys of each head, or numbers of rows that are stored beside the result.
std::string shared_keys_refusal(const OnlineSoftmax& body, const Extents& extents, const Machine& machine);

/// The stage's result over body.out, as online_softmax gives it. Storage: the result again, with its heads and queries as one dim.
Stored shared_keys(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// Of the parameters: the blocks of pairs that calls leave out where all is hidden.
BlockSizes shared_keys_blocks(const std::vector<Parameter>& values);

}  // namespace attune
