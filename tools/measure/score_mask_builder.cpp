#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "codegen/plan/node_users.h"
#include "tools/measure/score_mask.h"

namespace attune {
namespace {

bool is_pointwise(const AnyOp& any) {
  return std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, any);
}

/// The value of the node, by the interpreter.
Array computed(const Graph& graph, int node, const Shape& extents, const Arrays& inputs) {
  std::set<int> needed{node};
  for (int id = node; id >= 0; --id)
    if (needed.contains(id))
      for (const int operand : graph.node(id).operands()) needed.insert(operand);
  Graph part;
  for (const DimInfo& info : graph.dim_infos())  // also those that only other inputs have
    if (info.derivation.formula == Formula::fixed || info.derivation.formula == Formula::free)
      part.dim(info.name(), extents.find(info.name())->second, Here{});
  std::map<int, Value> values;
  Arrays given;
  for (const int id : needed) {
    std::vector<Value> in;
    for (const int operand : graph.node(id).operands()) in.push_back(values.at(operand));
    const auto add = [&]<class Op>(const Op& op) {
      if constexpr (!std::is_same_v<Op, Input>) return part.add(op, in, Here{});
      else {
        given.emplace(op.label, inputs.find(op.label)->second);
        return part.input(op.label, op.type.dims, op.type.kind, Here{});
      }
    };
    values.emplace(id, std::visit(add, graph.node(id).op));
  }
  constexpr Name result = "computed_value_of_the_mask";
  part.output(result, values.at(node), graph.node(node).type.dims, Here{});
  part.finish();
  Interpretation interpretation = interpret(part, given);
  if (!interpretation.problem.empty()) throw std::logic_error("internal: a mask's part: " + interpretation.problem);
  return std::move(interpretation.outputs.find(result)->second);
}

}  // namespace

/// Walks from a predicate to what it is made of. A rename changes the dims under which its operand is seen.
class ScoreMask::Builder {
 public:
  Builder(ScoreMask& mask, const Graph& graph, Name queries, Name keys, const Shape& extents, const Arrays& inputs)
      : mask_(mask), graph_(graph), queries_(queries), keys_(keys), extents_(extents), inputs_(inputs) {}

  std::size_t add(int id, const std::map<Name, Name>& renamed) {
    const auto [place, is_fresh] = found_.try_emplace({id, renamed}, 0);
    if (!is_fresh) return place->second;
    const Node& node = graph_.node(id);
    if (const auto* rename = std::get_if<Rename>(&node.op)) {
      std::map<Name, Name> inner = renamed;
      inner[rename->from] = role(rename->to, renamed);
      return found_[{id, renamed}] = add(node.inputs[0], inner);
    }
    Step step = is_pointwise(node.op) ? operation(node, renamed) : leaf(id, renamed);
    step.kind = node.type.kind;
    return found_[{id, renamed}] = append(std::move(step));
  }

  std::size_t negated(std::size_t operand) { return append(Not{}, {operand}); }
  std::size_t both(std::size_t a, std::size_t b) { return append(And{}, {a, b}); }

 private:
  static Name role(Name dim, const std::map<Name, Name>& renamed) {
    const auto found = renamed.find(dim);
    return found == renamed.end() ? dim : found->second;
  }
  std::size_t slot_of(Name dim) {
    if (dim == queries_) return row_slot;
    if (dim == keys_) return column_slot;
    mask_.outer_.unite(dim);
    return first_outer_slot + static_cast<std::size_t>(mask_.outer_.position(dim));
  }

  Step operation(const Node& node, const std::map<Name, Name>& renamed) {
    Step step;
    step.source = Source::operation;
    step.op = node.op;
    for (const int operand : node.operands()) step.operands.push_back(add(operand, renamed));
    return step;
  }
  Step leaf(int id, const std::map<Name, Name>& renamed) {
    const Node& node = graph_.node(id);
    Step step;
    if (const auto* constant = std::get_if<Constant>(&node.op)) {
      step.value = constant->value;
    } else if (const auto* extent = std::get_if<Extent>(&node.op)) {
      step.value = static_cast<double>(extents_.find(extent->dim)->second);
    } else if (const auto* index = std::get_if<Index>(&node.op)) {
      step.source = Source::index;
      step.slot = slot_of(role(index->dim, renamed));
      step.has_rows = step.slot == row_slot;
      step.has_columns = step.slot == column_slot;
    } else {
      const auto* input = std::get_if<Input>(&node.op);
      step.source = Source::data;
      const bool is_pair = node.type.dims.has(queries_) && node.type.dims.has(keys_);
      step.is_stored = input != nullptr || (is_anchor(node) && !is_pair);
      if (std::holds_alternative<Gather>(node.op) && node.type.kind != Kind::real) add_places(id, renamed, step);
      step.data = input != nullptr ? inputs_.find(input->label)->second : computed(graph_, id, extents_, inputs_);
      step.data.type = node.type;
      for (const Name dim : node.type.dims) {
        const std::size_t slot = slot_of(role(dim, renamed));
        step.strides.resize(std::max(step.strides.size(), slot + 1));
        step.strides[slot] += step.data.stride(dim);
        (slot == row_slot ? step.has_rows : step.has_columns) |= slot < first_outer_slot;
      }
    }
    return step;
  }

  /// Of a table that is stored, or gathered itself from one.
  void add_places(int id, const std::map<Name, Name>& renamed, Step& step) {
    Names chosen;
    while (const auto* gather = std::get_if<Gather>(&graph_.node(id).op)) {
      step.operands.push_back(add(graph_.node(id).inputs[1], renamed));
      chosen.unite(gather->along);
      id = graph_.node(id).inputs[0];
    }
    if (!std::holds_alternative<Input>(graph_.node(id).op) && !is_anchor(graph_.node(id))) return step.operands.clear();
    for (const Name dim : graph_.node(id).type.dims.without(chosen)) step.single.push_back(slot_of(role(dim, renamed)));
  }

  std::size_t append(const AnyOp& op, std::vector<std::size_t> operands) {
    Step step;
    step.source = Source::operation;
    step.kind = Kind::boolean;
    step.op = op;
    step.operands = std::move(operands);
    return append(std::move(step));
  }
  std::size_t append(Step step) {
    for (const std::size_t operand : step.operands) {
      step.has_rows |= mask_.steps_[operand].has_rows;
      step.has_columns |= mask_.steps_[operand].has_columns;
    }
    mask_.steps_.push_back(std::move(step));
    return mask_.steps_.size() - 1;
  }

  ScoreMask& mask_;
  const Graph& graph_;
  const Name queries_, keys_;
  const Shape& extents_;
  const Arrays& inputs_;
  std::map<std::pair<int, std::map<Name, Name>>, std::size_t> found_;
};

MaskedScores masked_scores(const Graph& graph, int node) {
  if (const auto* softmax = std::get_if<Softmax>(&graph.node(node).op))
    return {graph.node(node).inputs[0], softmax->over, -std::numeric_limits<double>::infinity()};
  for (const Node& user : graph.nodes()) {
    const auto in = user.operands();
    if (std::ranges::find(in, node) == in.end()) continue;
    const auto* matmul = std::get_if<Matmul>(&user.op);
    const std::optional<Name> reduced = matmul != nullptr && matmul->over.size() == 1 ? matmul->over[0] : reduced_dim(user);
    const bool is_sum = matmul != nullptr || std::holds_alternative<ReduceSum>(user.op);
    if (reduced) return {node, *reduced, is_sum ? 0 : -std::numeric_limits<double>::infinity()};
  }
  return {node, {}, 0};
}

namespace {

/// A product below the node that only elementwise operations change: then it is no softmax's.
bool is_made_of_product(const Graph& graph, int node) {
  bool is_found = false;
  look_below(graph, node, [&](int next) {
    const AnyOp& op = graph.node(next).op;
    is_found |= std::holds_alternative<Matmul>(op);
    return !is_found && is_pointwise(op);
  });
  return is_found;
}

/// Weights are of pairs of queries and keys, as stages of weighted sums take them, where they share heads or sequences with the values, or a mask
/// depends on both. The features of a hidden layer are the same for all rows: what is put to 0 there hides no pair.
bool are_of_pairs(const Graph& graph, int weights, int value, Name keys, const PeeledScore& peeled) {
  const Names own = graph.node(weights).type.dims.without({keys}), queries = own.without(graph.node(value).type.dims);
  const auto is_of_both = [&](const MaskPredicate& predicate) {
    const Names& dims = graph.node(predicate.node).type.dims;
    return dims.has(keys) && dims.without(queries).size() < dims.size();
  };
  return queries.size() < own.size() || std::ranges::any_of(peeled.predicates, is_of_both);
}

/// Scores with masks that a maximum or a log_sum_exp reads, and no softmax.
bool hides_pairs(const Graph& graph, int score) {
  const auto is_softmax_of_it = [&](const Node& user) { return std::holds_alternative<Softmax>(user.op) && user.inputs[0] == score; };
  const PeeledScore peeled = peel_masks(graph, score);
  return !peeled.predicates.empty() && is_made_of_product(graph, peeled.score) && std::ranges::none_of(graph.nodes(), is_softmax_of_it);
}

}  // namespace

std::vector<int> nodes_with_masks(const Graph& graph) {
  std::set<int> nodes;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const Node& node = graph.node(id);
    if (std::holds_alternative<Softmax>(node.op)) nodes.insert(id);
    if (reduced_dim(node) && !std::holds_alternative<ReduceSum>(node.op) && hides_pairs(graph, node.inputs[0])) nodes.insert(node.inputs[0]);
    const auto* matmul = std::get_if<Matmul>(&node.op);
    if (matmul == nullptr || matmul->over.size() != 1) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const PeeledScore peeled = peel_masks(graph, node.inputs[i], 0);
      if (!peeled.predicates.empty() && is_made_of_product(graph, peeled.score) &&
          are_of_pairs(graph, node.inputs[i], node.inputs[1 - i], matmul->over[0], peeled))
        nodes.insert(node.inputs[i]);
    }
  }
  return {nodes.begin(), nodes.end()};
}

ScoreMask::ScoreMask(const Graph& graph, int node, Name queries, const Shape& extents, const Arrays& inputs) {
  const MaskedScores masked = masked_scores(graph, node);
  Builder builder(*this, graph, queries, masked.keys, extents, inputs);
  std::optional<std::size_t> all;
  for (const MaskPredicate& predicate : peel_masks(graph, masked.score, masked.hidden).predicates) {
    std::size_t shows = builder.add(predicate.node, {});
    if (predicate.is_hiding) shows = builder.negated(shows);
    all = all ? builder.both(*all, shows) : shows;
  }
  // a predicate that was found before its last operand: the mask stands last
  if (all && *all + 1 != steps_.size()) builder.both(*all, *all);
}

std::vector<std::string> mask_inputs(const Graph& described) {
  const Graph graph = expanded(described);
  std::set<int> needed;
  for (const int node : nodes_with_masks(graph))
    for (const MaskPredicate& predicate : masks_of(graph, node).predicates) needed.insert(predicate.node);
  std::vector<std::string> names;
  for (int id = static_cast<int>(graph.nodes().size()) - 1; id >= 0; --id) {
    if (!needed.contains(id)) continue;
    for (const int operand : graph.node(id).operands()) needed.insert(operand);
    if (const auto* input = std::get_if<Input>(&graph.node(id).op)) names.emplace_back(input->label);
  }
  return names;
}

}  // namespace attune
