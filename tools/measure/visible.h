/// What masks let through, counted: pairs of queries and keys, blocks that a schedule visits, arithmetic that is useful.
/// Graphs here are expanded (dsl/interpret.h); `extents` has every dim, `inputs` at least mask_inputs(graph).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dsl/interpret.h"
#include "tools/measure/example.h"
#include "tools/measure/portion.h"
#include "tools/measure/score_mask.h"

namespace attune {

/// The elements of a softmax's scores, or of weights that none makes, which masks let through.
struct VisiblePairs {
  int node = -1;  ///< as masked_scores takes it (tools/measure/score_mask.h)
  Portion pairs;
};

/// Of nodes_with_masks, in the order of the graph. A mask is a select that puts -inf over whole scores, outermost, or 0 over weights; a bias that
/// happens to be -inf is none.
std::vector<VisiblePairs> count_visible_pairs(const Graph& graph, const Shape& extents, const Arrays& inputs);

/// Multiplications and additions of all matmuls: 2 * contracted extents * elements of the result. Of matmuls over the scores or
/// weights of such a node only the share that its masks let through counts. Of recurrences those of going token by token: 2 for each element of the
/// state and token that is written, 2 for each that beta erases by, 2 for each that a query reads.
double matmul_flops(const Graph& graph, const Shape& extents, const std::vector<VisiblePairs>& visible);

/// How attention in tiles walks over keys: in blocks of query_tile x key_tile where all is visible (or, where that cannot
/// be known, where anything may be), and over the rest of what may be visible in blocks of query_group x edge_tile.
struct KeyWalk {
  int node = -1;  ///< likewise
  Name queries;
  Names batch;  ///< the dims for each of which tiles are walked
  std::int64_t query_tile = 1, query_group = 1, key_tile = 1, edge_tile = 1;
};

/// In blocks of query_group x edge_tile: those that the walk computes, of all. A larger block counts as the smaller ones in it.
Portion count_visited_blocks(const Graph& graph, const KeyWalk& walk, const Shape& extents, const Arrays& inputs);

/// Pairs that the walk computes together, and whether it knows that all of them are visible.
struct VisitedBlock {
  IndexRange queries, keys;
  bool is_whole = false;
};

/// Calls `visit` with those of one place in the mask's outer dims, of so many queries and keys; `mask` is that of the walk's softmax.
void for_each_visited_block(const ScoreMask& mask, const KeyWalk& walk, std::int64_t queries, std::int64_t keys, const IndexBox& outer,
                            const std::function<void(const VisitedBlock&)>& visit);

}  // namespace attune
