/// How an operation becomes a node of a graph: its rule gives the type of the result. Definitions of dsl/graph.h.
#pragma once

#include <utility>

#include "dsl/graph.h"

namespace attune {

template <class Op>
constexpr Type Graph::check(const Op& op, std::span<const Value> inputs, Here at) {
  std::array<Type, max_operands> storage{};
  for (std::size_t i = 0; i < inputs.size(); ++i) storage[i] = node(inputs[i].id).type;
  const std::span<const Type> types(storage.data(), inputs.size());
  const int arity = Op::arity;
  if (arity >= 0 && arity != static_cast<int>(inputs.size())) {
    fail(at, Op::name, ": takes ", arity, " operands, got ", static_cast<int>(inputs.size()));
    return storage[0];
  }
  if constexpr (PointwiseOp<Op>) {
    const Checked checked = infer_pointwise(Op::signature, types);
    if (!checked.problem.empty()) fail(at, Op::name, ": ", checked.problem);
    return checked.type;
  } else if constexpr (CompositeOp<Op>) {
    if (const Text problem = op.check(types); !problem.empty()) {
      fail(at, Op::name, ": ", problem);
      return storage[0];
    }
    const int mark = size_;  // the expansion gives the type and is then dropped: the node keeps the operation's name
    const Type type = node(op.expand(inputs, at).id).type;
    hidden_ += size_ - mark - 1;
    size_ = mark;
    return type;
  } else {
    const Checked checked = op.infer(types);
    if (!checked.problem.empty())
      fail(at, Op::name, ": ", checked.problem);
    else if constexpr (requires { op.derive(types, [](const Derivation&) {}); })
      op.derive(types, [&](const Derivation& derivation) { derive(derivation, Op::name, at); });
    return checked.type;
  }
}

constexpr Node Graph::begin_node(std::string_view who, std::span<const Value> inputs, Here at) {
  if (inputs.size() > max_operands) {
    fail(at, who, ": has ", static_cast<int>(inputs.size()), " operands; at most ", max_operands, " are possible");
    inputs = inputs.first(max_operands);
  }
  Node begun;
  begun.input_count = static_cast<int>(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].graph != this) fail(at, who, ": an operand belongs to another graph");
    begun.inputs[i] = inputs[i].graph == this ? inputs[i].id : 0;
  }
  return begun;
}

constexpr Value Graph::append(const Node& added, std::string_view who, Here at) {
  if (added.type.dims.is_too_long())
    fail(at, who, ": the result has more than ", Names::capacity, " dims; it begins with ", added.type.dims);
  if (size_ + hidden_ >= max_nodes) {
    fail(at, who, ": is one operation too many; a graph has at most ", max_nodes, ", composites expanded");
    return {this, size_ - 1};
  }
  nodes_[static_cast<std::size_t>(size_)] = added;
  return {this, size_++};
}

template <class Op>
constexpr Value Graph::add(const Op& op, std::span<const Value> inputs, Here at) {
  Node added = begin_node(Op::name, inputs, at);
#ifdef __clang__
  added.op = AnyOp(std::in_place_type<Op>, op);
#else  // Each constructor of the variant calls the one before it: those of all operations take a third of this header's time. Clang needs them.
  added.op.template emplace<Op>(op);
#endif
  added.type = check(op, inputs.first(static_cast<std::size_t>(added.input_count)), at);
  return append(added, Op::name, at);
}

template <class T>
  requires std::integral<T> || std::floating_point<T>
constexpr Value constant(Graph& graph, T value, Here at) {
  if constexpr (std::is_same_v<T, bool> || std::floating_point<T>) {
    return literal(&graph, static_cast<double>(value), std::is_same_v<T, bool> ? Kind::boolean : Kind::real, at);
  } else {
    constexpr std::int64_t most = std::int64_t{1} << 53;  // a double holds all integers up to it
    const bool is_exact = !std::cmp_greater(+value, most) && !std::cmp_less(+value, -most);
    if (!is_exact) graph.fail(at, "constant: the integer is beyond 2^53 in size; a graph holds those from -2^53 to 2^53");
    return literal(&graph, is_exact ? static_cast<double>(value) : 0, Kind::i64, at);
  }
}

namespace detail {
/// Uses `call_in` of every operation here, where it is defined: the operations' functions refer to it before, and Clang
/// instantiates a template that a constant needs only at a use after its definition.
template <class... Ops>
constexpr bool are_defined(const std::variant<Ops...>*) {
  (static_cast<void>(&call_in<Ops>), ...);
  return true;
}
static_assert(are_defined(static_cast<const AnyOp*>(nullptr)));
}  // namespace detail

}  // namespace attune
