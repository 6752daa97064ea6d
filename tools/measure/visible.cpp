#include "tools/measure/visible.h"

#include <algorithm>
#include <set>
#include <utility>

#include "codegen/plan/node_users.h"

namespace attune {
namespace {

std::int64_t extent_of(Name dim, const Shape& extents) { return extents.find(dim)->second; }

std::int64_t product(const Names& dims, const Shape& extents) {
  std::int64_t size = 1;
  for (const Name dim : dims) size *= extent_of(dim, extents);
  return size;
}

/// The dims of all predicates of a node's masks.
Names mask_dims(const Graph& graph, int node) {
  Names dims;
  for (const MaskPredicate& predicate : masks_of(graph, node).predicates)
    dims.unite(graph.node(predicate.node).type.dims);
  return dims;
}

/// Queries and keys as given, and all of the outer dims.
IndexBox whole_box(const ScoreMask& mask, std::int64_t queries, std::int64_t keys, const Shape& extents) {
  IndexBox box{{0, queries}, {0, keys}};
  for (const Name dim : mask.outer()) box.push_back({0, extent_of(dim, extents)});
  return box;
}

Portion times(const Portion& portion, std::int64_t factor) { return {portion.part * factor, portion.whole * factor, portion.doubt * factor}; }

Portion count_pairs(const Graph& graph, int node, const Shape& extents, const Arrays& inputs) {
  const Names& scores = graph.node(node).type.dims;
  const Name keys = masked_scores(graph, node).keys;
  if (product(scores, extents) == 0) return {};
  Name queries;  // the longest dim, so that boxes are large
  for (const Name dim : mask_dims(graph, node))
    if (dim != keys && (queries.empty() || extent_of(dim, extents) > extent_of(queries, extents))) queries = dim;
  const ScoreMask mask(graph, node, queries, extents, inputs);
  const std::int64_t rows = queries.empty() ? 1 : extent_of(queries, extents), columns = extent_of(keys, extents);
  Names counted = mask.outer();
  counted.unite(keys);
  if (!queries.empty()) counted.unite(queries);
  return times(mask.count(whole_box(mask, rows, columns, extents)), product(scores.without(counted), extents));
}

/// Whether a matmul computes the scores that masks change, or those of some of the keys that a concat joins. `seen`: where that was asked.
using Asked = std::set<std::pair<int, Name>>;
bool makes_scores(const Graph& graph, int matmul, int from, Name keys, Asked& seen) {
  const Node& node = graph.node(from);
  if (from == matmul) return node.type.dims.has(keys);
  const bool is_pointwise = std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, node.op);
  const auto* concat = std::get_if<Concat>(&node.op);
  if (from < matmul || !(is_pointwise || (concat != nullptr && concat->into == keys)) || !seen.emplace(from, keys).second) return false;
  for (std::size_t i = 0; i < node.operands().size(); ++i)
    if (makes_scores(graph, matmul, node.operands()[i], concat != nullptr ? concat->along_of(i) : keys, seen)) return true;
  return false;
}

/// Whether a value is `weights`, changed element by element.
bool is_weights(const Graph& graph, int value, int weights) {
  bool is_found = false;
  look_below(graph, value, [&](int next) {
    is_found |= next == weights;
    return !is_found && next > weights &&
           std::visit([]<class Op>(const Op&) { return PointwiseOp<Op> || std::is_same_v<Op, Dropout>; }, graph.node(next).op);
  });
  return is_found;
}

bool is_over_scores(const Graph& graph, int matmul, int node) {
  const Node& product = graph.node(matmul);
  const Name keys = masked_scores(graph, node).keys;
  Names walked = product.type.dims;
  walked.unite(std::get<Matmul>(product.op).over);
  if (!mask_dims(graph, node).without(walked).without({keys}).empty()) return false;
  Asked seen;
  return makes_scores(graph, matmul, masks_of(graph, node).score, keys, seen) || is_weights(graph, product.inputs[0], node) ||
         is_weights(graph, product.inputs[1], node);
}

std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Calls visit(queries, keys) with the blocks that the walk computes of a tile in which something may be visible, and something hidden.
template <class Visit>
void visit_blocks_of_tile(const ScoreMask& mask, const KeyWalk& walk, bool knows_whole_blocks, IndexBox box, Visit visit) {
  const IndexRange rows = box[0], columns = box[1];
  if (columns.size() == walk.key_tile && !knows_whole_blocks && mask.over(box, Insight::kernel).possibly) return visit(rows, columns);
  for (std::int64_t edge = columns.begin; edge < columns.end; edge += walk.edge_tile) {
    box[0] = rows;
    box[1] = {edge, std::min(edge + walk.edge_tile, columns.end)};
    if (!mask.over(box, Insight::kernel).possibly) continue;
    for (std::int64_t row = rows.begin; row < rows.end; row += walk.query_group) {
      box[0] = {row, std::min(row + walk.query_group, rows.end)};
      if (mask.over(box, Insight::kernel).possibly) visit(box[0], box[1]);
    }
  }
}

/// Blocks of query_group x edge_tile, for each index of the outer dims: boxes here are of tiles of queries and of keys.
Portion visited_blocks(const ScoreMask& mask, const KeyWalk& walk, std::int64_t queries, std::int64_t keys, const Shape& extents) {
  const bool knows_whole_blocks = mask.may_know_whole_blocks();
  const auto elements = [&](const IndexBox& tiles) {
    IndexBox box = tiles;
    box[0] = {tiles[0].begin * walk.query_tile, std::min(tiles[0].end * walk.query_tile, queries)};
    box[1] = {tiles[1].begin * walk.key_tile, std::min(tiles[1].end * walk.key_tile, keys)};
    return box;
  };
  BoxProperty visited;
  visited.known = [&](const IndexBox& tiles) {
    // what holds for a box holds for all boxes in it: a tile would give the same answer
    const Seen seen = mask.over(elements(tiles), Insight::kernel);
    return !seen.possibly ? 0 : seen.certainly ? 1 : -1;
  };
  visited.size = [&](const IndexBox& tiles) {
    const IndexBox box = elements(tiles);
    std::int64_t size = ceil_of(box[0].size(), walk.query_group) * ceil_of(box[1].size(), walk.edge_tile);
    for (std::size_t i = 2; i < tiles.size(); ++i) size *= tiles[i].size();
    return size;
  };
  visited.count = [&](const IndexBox& tile) {
    std::int64_t count = 0;
    visit_blocks_of_tile(mask, walk, knows_whole_blocks, elements(tile), [&](const IndexRange& rows, const IndexRange& columns) {
      count += ceil_of(rows.size(), walk.query_group) * ceil_of(columns.size(), walk.edge_tile);
    });
    return count;
  };
  IndexBox all = whole_box(mask, ceil_of(queries, walk.query_tile), ceil_of(keys, walk.key_tile), extents);
  visited.sides.assign(all.size(), 1);
  return portion_of(all, visited);
}

/// Of changing a state by all tokens; `operands` are those of the state, from the key on.
double state_flops(const Graph& graph, Name along, std::span<const int> operands, const Shape& extents) {
  std::vector<Type> types;
  for (const int operand : operands) types.push_back(graph.node(operand).type);
  const auto operand = [&](recurrent::Place place) { return operands[static_cast<std::size_t>(place - recurrent::key)]; };
  const auto* beta = std::get_if<Constant>(&graph.node(operand(recurrent::beta)).op);
  const bool has_own = operand(recurrent::asked) != operand(recurrent::key) || operand(recurrent::erased) != operand(recurrent::key);
  const double products = beta != nullptr && beta->value == 0 ? 1 : has_own ? 3 : 2;
  return 2 * products * static_cast<double>(product(recurrent::dims_of_all(types, {along}), extents)) *
         static_cast<double>(extent_of(along, extents));
}

/// Of a recurrence, or of a state that none is computed with; 0 of other nodes.
double recurrence_flops(const Graph& graph, int id, const Shape& extents) {
  const Node& node = graph.node(id);
  if (const auto* of = std::get_if<Recurrence>(&node.op)) {
    const double read = 2.0 * static_cast<double>(product(node.type.dims, extents)) * static_cast<double>(extent_of(of->over, extents));
    return read + state_flops(graph, of->along, node.operands().subspan(1), extents);
  }
  const auto* of = std::get_if<RecurrenceState>(&node.op);
  const auto has_same_state = [&](const Node& other) {
    return std::holds_alternative<Recurrence>(other.op) && std::ranges::equal(other.operands().subspan(1), node.operands());
  };
  return of == nullptr || std::ranges::any_of(graph.nodes(), has_same_state) ? 0 : state_flops(graph, of->along, node.operands(), extents);
}

}  // namespace

std::vector<VisiblePairs> count_visible_pairs(const Graph& graph, const Shape& extents, const Arrays& inputs) {
  std::vector<VisiblePairs> all;
  for (const int node : nodes_with_masks(graph)) all.push_back({node, count_pairs(graph, node, extents, inputs)});
  return all;
}

double matmul_flops(const Graph& graph, const Shape& extents, const std::vector<VisiblePairs>& visible) {
  double flops = 0;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    flops += recurrence_flops(graph, id, extents);
    const auto* matmul = std::get_if<Matmul>(&graph.node(id).op);
    if (matmul == nullptr) continue;
    double own = 2.0 * static_cast<double>(product(graph.node(id).type.dims, extents)) * static_cast<double>(product(matmul->over, extents));
    for (const VisiblePairs& v : visible)
      if (is_over_scores(graph, id, v.node)) own *= v.pairs.share();
    flops += own;
  }
  return flops;
}

Portion count_visited_blocks(const Graph& graph, const KeyWalk& walk, const Shape& extents, const Arrays& inputs) {
  const Name key_dim = masked_scores(graph, walk.node).keys;
  const std::int64_t queries = extent_of(walk.queries, extents), keys = extent_of(key_dim, extents);
  if (product(graph.node(walk.node).type.dims, extents) == 0) return {};
  const ScoreMask mask(graph, walk.node, walk.queries, extents, inputs);
  const Portion blocks = visited_blocks(mask, walk, queries, keys, extents);
  return times(blocks, product(walk.batch.without(mask.outer()), extents));
}

void for_each_visited_block(const ScoreMask& mask, const KeyWalk& walk, std::int64_t queries, std::int64_t keys, const IndexBox& outer,
                            const std::function<void(const VisitedBlock&)>& visit) {
  const bool knows_whole_blocks = mask.may_know_whole_blocks();
  for (std::int64_t query = 0; query < queries; query += walk.query_tile)
    for (std::int64_t key = 0; key < keys; key += walk.key_tile) {
      IndexBox tile{{query, std::min(query + walk.query_tile, queries)}, {key, std::min(key + walk.key_tile, keys)}};
      tile.insert(tile.end(), outer.begin(), outer.end());
      const Seen seen = mask.over(tile, Insight::kernel);
      if (seen.certainly) visit({tile[0], tile[1], true});
      else if (seen.possibly)
        visit_blocks_of_tile(mask, walk, knows_whole_blocks, tile, [&](const IndexRange& rows, const IndexRange& columns) {
          visit({rows, columns, false});
        });
    }
}

}  // namespace attune
