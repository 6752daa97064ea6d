/// Gradients: a graph grows by what its gradients are made of (reverse mode: Griewank and Walther 2008, chapter 3). Kernels of them are kernels of any
/// other graph: weights that they compute again, and products over queries that blocks of them add up to, store no queries x keys.
#pragma once

#include "dsl/pulled.h"

namespace attune {

namespace detail {

/// The gradients of a value by others, node by node from the last.
class Gradients {
 public:
  constexpr Gradients(Graph& graph, Here at) : graph_(graph), at_(at) { ids_.fill(-1); }

  /// From `of`, whose own gradient is `seed`, back to these values, of which one may depend on another; of what has a number below `begin` to these alone.
  constexpr void pull(Value of, Value seed, std::span<const Value> by, int begin = 0) {
    std::array<bool, Graph::max_nodes> depends{};
    for (const Value value : by) depends[place(value.id)] = true;
    const auto is_open = [&](int id) { return id >= begin && graph_.node(id).type.kind == Kind::real; };
    for (int id = begin; id <= of.id; ++id)
      for (const int operand : graph_.node(id).operands()) depends[place(id)] |= is_open(id) && depends[place(operand)];
    ids_[place(of.id)] = seed.id;
    for (int id = of.id; id >= begin; --id)
      if (ids_[place(id)] >= 0 && is_open(id)) step(id, depends);
  }

  /// By the value; where nothing depends on it the id is negative.
  constexpr Value by(Value value) const { return {&graph_, ids_[place(value.id)]}; }

 private:
  static constexpr std::size_t place(int id) { return static_cast<std::size_t>(id); }

  // Templates stand before what calls them: Clang 22 evaluates none whose definition comes later in the class.

  /// A composite without a rule of its own is what it expands to.
  template <class Op>
  constexpr void pull_expanded(const Op& op, Pulled& pulled) {
    std::array<Value, max_operands> in{}, by{};
    std::size_t count = 0;
    for (int i = 0; i < pulled.count(); ++i) {
      in[place(i)] = pulled.in(i);
      if (pulled.wanted[place(i)]) by[count++] = pulled.in(i);
    }
    const int begin = static_cast<int>(graph_.nodes().size());
    const Value written = op.expand(std::span<const Value>(in.data(), place(pulled.count())), at_);
    Gradients inner(graph_, at_);
    inner.pull(written, pulled.out, std::span<const Value>(by.data(), count), begin);
    for (int i = 0; i < pulled.count(); ++i)
      if (const Value found = inner.by(pulled.in(i)); pulled.wanted[place(i)] && found.id >= 0) {
        pulled.made[place(i)] = found;
        inner.ids_[place(pulled.in(i).id)] = -1;  // of an operand that stands twice it is both
      }
  }

  template <class Op>
  constexpr void pull_through(const Op& op, Pulled& pulled) {
    if constexpr (requires { op.pull(pulled); }) op.pull(pulled);
    else if constexpr (CompositeOp<Op>) pull_expanded(op, pulled);
    else pulled.refuse("its operands");
  }

  constexpr void step(int id, const std::array<bool, Graph::max_nodes>& depends) {
    const Node node = graph_.node(id);  // a copy: the graph grows
    Pulled pulled{.out = {&graph_, ids_[place(id)]}, .y = {&graph_, id}, .node = &node, .at = at_};
    bool is_wanted = false;
    for (int i = 0; i < node.input_count; ++i) is_wanted |= pulled.wanted[place(i)] = depends[place(node.inputs[place(i)])];
    if (!is_wanted) return;
    std::visit([&](const auto& op) { pull_through(op, pulled); }, node.op);
    if (!pulled.refused.empty()) graph_.fail(at_, "gradients: ", operation_name(node.op), " has no gradient by ", pulled.refused);
    for (int i = 0; i < node.input_count; ++i)
      if (pulled.made[place(i)].graph != nullptr) add(node.inputs[place(i)], pulled.made[place(i)]);
  }

  constexpr void add(int id, Value gradient) {
    int& so_far = ids_[place(id)];
    so_far = so_far < 0 ? gradient.id : (Value{&graph_, so_far} + gradient).id;
  }

  Graph& graph_;
  Here at_;
  std::array<int, Graph::max_nodes> ids_{};  // of the gradient by each node
};

}  // namespace detail

/// What sum(seed * of) changes by with each element of `by`, which are inputs or what the graph computes of them: the gradients of a loss whose gradient by
/// `of` is `seed`, a number or a value of no other dims. Each has the dims of its value.
///
///   const Value d_out = g.input("d_out", {queries, depth});
///   const auto [d_q, d_k] = gradients(out, d_out, q, k);
///
/// Forward values that they need are the graph's own: a result beside them costs nothing anew. Refused: an operation without a gradient (recurrence,
/// write_rows), and a value that `of` does not depend on by reals.
template <class... Values>
  requires(sizeof...(Values) > 0 && (std::same_as<Values, Value> && ...))
constexpr std::array<Value, sizeof...(Values)> gradients(Operand of, Operand seed, Values... by) {
  std::array<Value, sizeof...(Values)> values{by...};
  Graph& graph = *values[0].graph;
  const auto refuse = [&](const auto&... parts) {
    graph.fail(of.at, "gradients: ", parts...);
    return values;
  };
  if (!((by.graph == &graph) && ...) || (of.is_value() && of.graph != &graph) || (seed.is_value() && seed.graph != &graph))
    return refuse("an operand belongs to another graph");
  if (!of.is_value() || kind_of(of.value()) != Kind::real) return refuse("of a number or of integers; a value of reals has some");
  const Value start = seed.beside(of);
  if (kind_of(start) != Kind::real) return refuse("the seed is ", kind_of(start), "; it must be real");
  for (const Name dim : dims_of(start))
    if (!dims_of(of.value()).has(dim)) return refuse("the seed has ", dim, ", which the value does not have: it is ", dims_of(of.value()));
  detail::Gradients gradients(graph, of.at);
  gradients.pull(of.value(), detail::Pulled{.out = of.value(), .at = of.at}.spread(start, dims_of(of.value())), values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value found = gradients.by(values[i]);
    if (found.id < 0) return refuse("the value does not depend on what is named ", static_cast<int>(i) + 1, ". of those that it is derived by");
    values[i] = found;
  }
  return values;
}

}  // namespace attune
