#include "codegen/stage_lowering.h"

#include <algorithm>
#include <stdexcept>

#include "codegen/score_masks.h"

namespace attune {
namespace {

std::vector<std::string> strings(const Names& names) { return {names.begin(), names.end()}; }

int result_of(const Body& body) { return body.graph().outputs()[0].node; }

/// The one node of the operation that the stage is built around.
template <class Op>
int the_only(const Graph& graph) {
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (std::holds_alternative<Op>(graph.node(id).op)) return id;
  throw std::logic_error("internal: a stage without its " + std::string(Op::name));
}

/// What `result` makes of the value that stands for each of `inner`, or nothing if they are the same.
std::function<Halide::Expr(Halide::Expr, const Coordinates&)> change(const Body& body, const std::vector<int>& inner, int result) {
  if (inner == std::vector{result}) return {};
  return [&body, inner, result](const Halide::Expr& value, const Coordinates& at) {
    Given given;
    for (const int node : inner) given.emplace(node, Lowered{value});
    return body.at(result, at, given).expr;
  };
}

std::vector<int> products_of(const OnlineSoftmaxMatch& match) {
  std::vector<int> products;
  for (const KeyPart& part : match.parts)
    if (part.product >= 0) products.push_back(part.product);
  return products;
}

/// The operands of the parts' products along all keys; where a part has no product, some element of another's.
Piece key_of_parts(const Body& body, const OnlineSoftmaxMatch& match) {
  Names dims;
  for (const KeyPart& part : match.parts)
    if (part.product >= 0) dims.unite(body.graph().node(part.key).type.dims.renamed(part.along, match.keys));
  const auto at = [&body, match](const Coordinates& coordinates) {
    const Halide::Expr position = coordinates.at(std::string(match.keys));
    Halide::Expr key, first = 0;
    for (const KeyPart& part : match.parts) {
      const std::string along(part.along);
      const Halide::Expr extent = body.extents().at(along);
      if (part.product >= 0) {
        Coordinates own = coordinates;
        own[along] = Halide::clamp(position - first, 0, Halide::max(extent - 1, 0));
        const Halide::Expr element = body.at(part.key, own).expr;
        key = key.defined() ? Halide::select(position < first, key, element) : element;
      }
      first = first + extent;
    }
    return key;
  };
  return {strings(dims), at};
}

void add_visibility(const Body& body, const std::vector<MaskPredicate>& predicates, OnlineSoftmax& stage) {
  if (predicates.empty()) return;
  stage.visible = [&body, predicates](const Coordinates& at) {
    Halide::Expr visible;
    for (const MaskPredicate& p : predicates) {
      const Halide::Expr holds = body.at(p.node, at).expr, shows = p.is_hiding ? !holds : holds;
      visible = visible.defined() ? visible && shows : shows;
    }
    return visible;
  };
  stage.visibility = [&body, predicates](const Block& block) {
    Visibility all{Halide::Internal::const_true(), Halide::Internal::const_true()};
    for (const MaskPredicate& p : predicates) {
      const Interval<Lowered> holds = body.over(p.node, block);
      all.certainly = all.certainly && block_condition(p.is_hiding ? !holds.high : holds.low);
      all.possibly = all.possibly && block_condition(p.is_hiding ? !holds.low : holds.high);
    }
    return all;
  };
}

/// The operand of the matmul that comes from the softmax.
int weights_operand(const Graph& graph, const OnlineSoftmaxMatch& match) {
  const Node& node = graph.node(match.matmul);
  return node.inputs[0] == match.value ? node.inputs[1] : node.inputs[0];
}

const Names& summed_dims(const Node& node) {
  if (const auto* matmul = std::get_if<Matmul>(&node.op)) return matmul->over;
  return std::get<ReduceSum>(node.op).over;
}

/// A term of the sum over pairs, from the values of its query and its key.
std::function<Halide::Expr(Halide::Expr, Halide::Expr, const Coordinates&)> combination(const Body& body, const OnlineSoftmaxMatch& match) {
  return [&body, match](const Halide::Expr& query, const Halide::Expr& key, const Coordinates& at) {
    const Given given{{match.query, {query}}, {match.key, {key}}};
    Halide::Expr term;
    for (const int operand : body.graph().node(match.sum).operands()) {
      const Halide::Expr factor = body.at(operand, at, given).expr;
      term = term.defined() ? term * factor : factor;
    }
    return term;
  };
}

}  // namespace

OnlineSoftmax online_softmax_body(const Body& body, const std::vector<std::string>& out) {
  const Graph& graph = body.graph();
  std::optional<OnlineSoftmaxMatch> found;
  for (int id = static_cast<int>(graph.nodes().size()) - 1; id >= 0 && !found; --id) found = match_online_softmax(graph, id).match;
  if (!found) throw std::logic_error("internal: a stage 'online_softmax' without its pattern");
  const OnlineSoftmaxMatch& match = *found;

  OnlineSoftmax stage;
  stage.out = out;
  stage.queries = match.queries;
  stage.keys = match.keys;
  stage.value_depth = match.value_depth;
  for (const std::string& dim : strings(graph.node(match.matmul).type.dims))
    if (dim != stage.queries && dim != stage.value_depth) stage.batch.push_back(dim);
  const auto [score, predicates] = peel_masks(graph, graph.node(match.softmax).inputs[0]);
  const int inner = match.product >= 0 ? match.product : match.sum;
  if (inner >= 0) {
    stage.over = strings(summed_dims(graph.node(inner)));
    stage.query = body.piece(match.query);
    stage.key = match.parts.empty() ? body.piece(match.key) : key_of_parts(body, match);
    stage.change = change(body, match.parts.empty() ? std::vector{inner} : products_of(match), score);
    if (match.product < 0) stage.combine = combination(body, match);
  } else {
    stage.score = body.piece(score);
  }
  add_visibility(body, predicates, stage);
  stage.weight = change(body, {match.softmax}, weights_operand(graph, match));
  stage.value = body.piece(match.value);
  stage.finish = change(body, {match.matmul}, result_of(body));
  return stage;
}

Gemm gemm_body(const Body& body, const std::vector<std::string>& out) {
  const Graph& graph = body.graph();
  const int id = the_only<Matmul>(graph);
  const Node& node = graph.node(id);
  const Names over = std::get<Matmul>(node.op).over;
  const Names &a = graph.node(node.inputs[0]).type.dims, &b = graph.node(node.inputs[1]).type.dims;
  Gemm stage;
  stage.out = out;
  stage.over = strings(over);
  stage.a = body.piece(node.inputs[0]);
  stage.b = body.piece(node.inputs[1]);
  stage.rows = strings(a.without(b).without(over));
  stage.columns = strings(b.without(a).without(over));
  for (const std::string& dim : out)
    if (a.has(dim) && b.has(dim)) stage.batch.push_back(dim);
  // columns are the dims that run fastest in memory: there the vectors lie
  if (!out.empty() && std::ranges::find(stage.rows, out.back()) != stage.rows.end()) {
    std::swap(stage.a, stage.b);
    std::swap(stage.rows, stage.columns);
  }
  stage.finish = change(body, {id}, result_of(body));
  return stage;
}

RowSoftmax row_softmax_body(const Body& body, const std::vector<std::string>& out) {
  const Graph& graph = body.graph();
  const Node& node = graph.node(the_only<Softmax>(graph));
  return {body.piece(node.inputs[0]), std::string(std::get<Softmax>(node.op).over), out, {}};
}

Pointwise pointwise_body(const Body& body, const std::vector<std::string>& out) { return {body.piece(result_of(body)), out}; }

}  // namespace attune
