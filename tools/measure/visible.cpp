#include "tools/measure/visible.h"

#include <algorithm>
#include <functional>

#include "tools/measure/score_mask.h"

namespace attune {
namespace {

std::int64_t extent_of(Name dim, const Shape& extents) { return extents.find(dim)->second; }

std::int64_t product(const Names& dims, const Shape& extents) {
  std::int64_t size = 1;
  for (const Name dim : dims) size *= extent_of(dim, extents);
  return size;
}

/// The dims of all predicates of a softmax's masks.
Names mask_dims(const Graph& graph, int softmax) {
  Names dims;
  for (const MaskPredicate& predicate : peel_masks(graph, graph.node(softmax).inputs[0]).predicates)
    dims.unite(graph.node(predicate.node).type.dims);
  return dims;
}

/// Calls visit(box) with every index of the outer dims, queries and keys being whole.
void for_each_outer(const ScoreMask& mask, std::int64_t queries, std::int64_t keys, const Shape& extents, const std::function<void(IndexBox&)>& visit) {
  if (product(mask.outer(), extents) == 0) return;
  IndexBox box{{0, queries}, {0, keys}};
  for (int i = 0; i < mask.outer().size(); ++i) box.push_back({0, 1});
  while (true) {
    box[0] = {0, queries};
    box[1] = {0, keys};
    visit(box);
    int i = mask.outer().size() - 1;
    for (; i >= 0; --i) {
      IndexRange& range = box[static_cast<std::size_t>(i) + 2];
      if (range.end < extent_of(mask.outer()[i], extents)) {
        range = {range.end, range.end + 1};
        break;
      }
      range = {0, 1};
    }
    if (i < 0) return;
  }
}

Portion count_pairs(const Graph& graph, int softmax, const Shape& extents, const Arrays& inputs) {
  const Names& scores = graph.node(softmax).type.dims;
  const Name keys = std::get<Softmax>(graph.node(softmax).op).over;
  Portion pairs{0, product(scores, extents)};
  if (pairs.whole == 0) return pairs;
  Name queries;  // the longest dim, so that boxes are large
  for (const Name dim : mask_dims(graph, softmax))
    if (dim != keys && (queries.empty() || extent_of(dim, extents) > extent_of(queries, extents))) queries = dim;
  const ScoreMask mask(graph, softmax, queries, extents, inputs);
  const std::int64_t rows = queries.empty() ? 1 : extent_of(queries, extents), columns = extent_of(keys, extents);
  for_each_outer(mask, rows, columns, extents, [&](const IndexBox& box) { pairs.part += mask.count(box); });
  Names counted = mask.outer();
  counted.unite(keys);
  if (!queries.empty()) counted.unite(queries);
  pairs.part *= product(scores.without(counted), extents);
  return pairs;
}

/// Whether a matmul computes the scores that the masks of `softmax` change.
bool makes_scores(const Graph& graph, int matmul, int from) {
  if (from == matmul) return true;
  const Node& node = graph.node(from);
  const bool is_pointwise = std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, node.op);
  if (from < matmul || !is_pointwise) return false;
  return std::ranges::any_of(node.operands(), [&](int operand) { return makes_scores(graph, matmul, operand); });
}

/// Whether a value is the weights of `softmax`, changed element by element.
bool is_weights(const Graph& graph, int value, int softmax) {
  if (value == softmax) return true;
  const Node& node = graph.node(value);
  const bool changes_elements = std::visit([]<class Op>(const Op&) { return PointwiseOp<Op> || std::is_same_v<Op, Dropout>; }, node.op);
  if (value < softmax || !changes_elements) return false;
  return std::ranges::any_of(node.operands(), [&](int operand) { return is_weights(graph, operand, softmax); });
}

bool is_over_scores(const Graph& graph, int matmul, int softmax) {
  const Node& node = graph.node(matmul);
  Names walked = node.type.dims;
  walked.unite(std::get<Matmul>(node.op).over);
  if (!mask_dims(graph, softmax).without(walked).empty()) return false;
  return makes_scores(graph, matmul, peel_masks(graph, graph.node(softmax).inputs[0]).score) || is_weights(graph, node.inputs[0], softmax) ||
         is_weights(graph, node.inputs[1], softmax);
}

}  // namespace

std::vector<VisiblePairs> count_visible_pairs(const Graph& graph, const Shape& extents, const Arrays& inputs) {
  std::vector<VisiblePairs> all;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (std::holds_alternative<Softmax>(graph.node(id).op)) all.push_back({id, count_pairs(graph, id, extents, inputs)});
  return all;
}

double matmul_flops(const Graph& graph, const Shape& extents, const std::vector<VisiblePairs>& visible) {
  double flops = 0;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const auto* matmul = std::get_if<Matmul>(&graph.node(id).op);
    if (matmul == nullptr) continue;
    double own = 2.0 * static_cast<double>(product(graph.node(id).type.dims, extents)) * static_cast<double>(product(matmul->over, extents));
    for (const VisiblePairs& v : visible)
      if (is_over_scores(graph, id, v.softmax)) own *= v.pairs.share();
    flops += own;
  }
  return flops;
}

Portion count_visited_blocks(const Graph& graph, const KeyWalk& walk, const Shape& extents, const Arrays& inputs) {
  const Name key_dim = std::get<Softmax>(graph.node(walk.softmax).op).over;
  const std::int64_t queries = extent_of(walk.queries, extents), keys = extent_of(key_dim, extents);
  if (product(graph.node(walk.softmax).type.dims, extents) == 0) return {};
  const ScoreMask mask(graph, walk.softmax, walk.queries, extents, inputs);
  const bool knows_whole_blocks = mask.may_know_whole_blocks();
  const std::int64_t per_large = walk.key_tile / walk.edge_tile;
  Portion blocks;
  for_each_outer(mask, queries, keys, extents, [&](IndexBox& box) {
    for (std::int64_t first = 0; first < queries; first += walk.query_tile) {
      box[0] = {first, std::min(first + walk.query_tile, queries)};
      for (std::int64_t key = 0; key < keys; key += walk.key_tile) {
        box[1] = {key, std::min(key + walk.key_tile, keys)};
        const std::int64_t inside = (box[1].size() + walk.edge_tile - 1) / walk.edge_tile;
        blocks.whole += inside;
        const Seen seen = mask.over(box, Insight::elements);
        const bool is_whole = key + walk.key_tile <= keys;
        if (is_whole && (knows_whole_blocks ? seen.certainly : seen.possibly)) {
          blocks.part += per_large;
          continue;
        }
        for (std::int64_t edge = key; edge < std::min(key + walk.key_tile, keys); edge += walk.edge_tile) {
          IndexBox small = box;
          small[1] = {edge, std::min(edge + walk.edge_tile, keys)};
          blocks.part += mask.over(small, Insight::elements).possibly;
        }
      }
    }
  });
  const std::int64_t walks = product(walk.batch.without(mask.outer()), extents);
  return {blocks.part * walks, blocks.whole * walks};
}

}  // namespace attune
