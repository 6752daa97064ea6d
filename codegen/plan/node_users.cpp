#include "codegen/plan/node_users.h"

#include <algorithm>

namespace attune {
namespace {

bool has_same_dims(const Names& a, const Names& b) { return a.size() == b.size() && a.without(b).empty(); }

}  // namespace

bool reads_elsewhere(const Node& node, std::size_t operand, Name joined) {
  if (std::holds_alternative<Gather>(node.op)) return operand == 0;
  if (std::holds_alternative<WriteRows>(node.op)) return operand == 1;
  if (const auto* concat = std::get_if<Concat>(&node.op)) return concat->into != joined;
  return std::visit([]<class Op>(const Op&) { return moves_elements<Op>; }, node.op);
}

bool holds_pairs(const Graph& graph, int anchor, Name queries, Name keys) {
  bool is_found = false;
  look_below(graph, anchor, [&](int id) {
    const Node& node = graph.node(id);
    if (id == anchor || !is_anchor(node)) return !is_found;
    is_found |= node.type.dims.has(queries) && node.type.dims.has(keys);
    return false;
  });
  return is_found;
}

Users users_of(const Graph& graph) {
  Users users(graph.nodes().size());
  for (std::size_t id = 0; id < users.size(); ++id)
    for (int operand : graph.nodes()[id].operands()) users[static_cast<std::size_t>(operand)].push_back(static_cast<int>(id));
  for (const Output& output : graph.outputs()) users[static_cast<std::size_t>(output.node)].push_back(output_user);
  return users;
}

bool multiplies_alone(const Graph& graph, std::string_view input) {
  const Users users = users_of(graph);
  std::vector<int> left;
  for (std::size_t id = 0; id < users.size(); ++id)
    if (const auto* read = std::get_if<Input>(&graph.nodes()[id].op); read != nullptr && read->label == input) left.push_back(static_cast<int>(id));
  while (!left.empty()) {
    const int id = left.back();
    left.pop_back();
    for (const int user : users[static_cast<std::size_t>(id)]) {
      if (user == output_user) return false;
      const AnyOp& op = graph.node(user).op;
      if (std::visit([]<class Op>(const Op&) { return moves_elements<Op>; }, op)) left.push_back(user);
      else if (!std::holds_alternative<Matmul>(op)) return false;
    }
  }
  return true;
}

bool reaches(const Graph& graph, int from, int to) {
  if (from <= to) return from == to;  // users have greater numbers than what they use
  bool is_found = false;
  look_below(graph, from, [&](int id) {
    is_found |= id == to;
    return !is_found && id > to;
  });
  return is_found;
}

std::vector<int> epilogue_of(const Graph& graph, const Users& users, int anchor) {
  std::vector<int> changes;
  for (int id = anchor;; id = changes.back()) {
    const std::vector<int>& readers = users[static_cast<std::size_t>(id)];
    const auto is_another = [&](int reader) { return reader != readers[0]; };  // x * x reads x twice
    if (readers.empty() || readers[0] == output_user || std::ranges::any_of(readers, is_another)) return changes;
    const Node& user = graph.node(readers[0]);
    const bool is_pointwise = std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, user.op);
    if (!is_pointwise || !has_same_dims(user.type.dims, graph.node(anchor).type.dims)) return changes;
    changes.push_back(readers[0]);
  }
}

int log_sum_exp_beside(const Graph& graph, int softmax) {
  const Node& node = graph.node(softmax);
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const auto* log_sum_exp = std::get_if<LogSumExp>(&graph.node(id).op);
    if (log_sum_exp != nullptr && log_sum_exp->over == std::get<Softmax>(node.op).over && graph.node(id).inputs[0] == node.inputs[0]) return id;
  }
  return -1;
}

int row_maximum_beside(const Graph& graph, int softmax) {
  const Node& node = graph.node(softmax);
  const auto* of_softmax = std::get_if<Softmax>(&node.op);
  const Name over = of_softmax != nullptr ? of_softmax->over : std::get<LogSumExp>(node.op).over;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const auto* maximum = std::get_if<ReduceMax>(&graph.node(id).op);
    if (maximum != nullptr && maximum->over == Names{over} && graph.node(id).inputs[0] == node.inputs[0]) return id;
  }
  return -1;
}

}  // namespace attune
