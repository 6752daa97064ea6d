/// What stands around a node of a graph: its users, what is below it, and what is computed of the same operand.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dsl/graph.h"

namespace attune {

/// The operation has a loop of its own (matmul, softmax, reductions); all others are computed per element.
inline bool is_anchor(const Node& node) {
  return std::visit([]<class Op>(const Op&) { return requires { Op::has_loop; }; }, node.op);
}

/// An operation whose result is elements of its operand at other coordinates alone.
template <class Op>
constexpr bool moves_elements = std::is_same_v<Op, Rename> || std::is_same_v<Op, Slice> || std::is_same_v<Op, Split> || std::is_same_v<Op, Merge>;

/// The dim that a sum, a maximum or a log_sum_exp of reals runs over, if it is one; nothing of other nodes.
inline std::optional<Name> reduced_dim(const Node& node) {
  if (node.type.kind != Kind::real) return std::nullopt;
  if (const auto* log_sum_exp = std::get_if<LogSumExp>(&node.op)) return log_sum_exp->over;
  const auto* sum = std::get_if<ReduceSum>(&node.op);
  const auto* maximum = std::get_if<ReduceMax>(&node.op);
  const Names over = sum != nullptr ? sum->over : maximum != nullptr ? maximum->over : Names{};
  return over.size() == 1 ? std::optional(over[0]) : std::nullopt;
}

/// The operation takes elements of this operand from other places than that of its result, or of dims with other names: what is computed for a place
/// is not what it reads there. A concat along `joined` is said to be in place: its parts have dims of their own.
bool reads_elsewhere(const Node& node, std::size_t operand, Name joined);

/// The input of that label is read as an operand of matmuls alone, as it is or at other coordinates.
bool multiplies_alone(const Graph& graph, std::string_view input);

/// An anchor with both dims lies below the anchor.
bool holds_pairs(const Graph& graph, int anchor, Name queries, Name keys);

/// The users of every node; an output counts as a user with the number -1.
inline constexpr int output_user = -1;
using Users = std::vector<std::vector<int>>;
Users users_of(const Graph& graph);

/// Looks at the node and at what is below it, at each node once and from the first operand on: `look` says of a node whether its operands are looked at.
template <class Look>
void look_below(const Graph& graph, int id, Look look) {
  std::vector<bool> seen(graph.nodes().size());
  std::vector<int> left{id};
  while (!left.empty()) {
    const int next = left.back();
    left.pop_back();
    if (seen[static_cast<std::size_t>(next)]) continue;
    seen[static_cast<std::size_t>(next)] = true;
    if (!look(next)) continue;
    const auto operands = graph.node(next).operands();
    left.insert(left.end(), operands.rbegin(), operands.rend());
  }
}

/// `to` is the node or below it.
bool reaches(const Graph& graph, int from, int to);

/// The logarithm of the sum that the softmax divides by, if the graph has it; or -1.
int log_sum_exp_beside(const Graph& graph, int softmax);
/// The greatest of the scores of a softmax or a log_sum_exp, if the graph has it; or -1.
int row_maximum_beside(const Graph& graph, int softmax);

/// The changes of an anchor's value, each the only user of the one before: elementwise operations whose results have its dims.
std::vector<int> epilogue_of(const Graph& graph, const Users& users, int anchor);

}  // namespace attune
