/// How an operation says its gradients: what its `pull` is given.
#pragma once

#include "dsl/graph.h"

namespace attune::detail {

/// What an operation's `pull` is given: the gradient of its result, from which it makes those of its operands.
///
///   constexpr void pull(auto& g) const { g.add(0, [&] { return g.out * g.y; }); }
struct Pulled {
  Value out{};  ///< by the result, of its dims
  Value y{};    ///< the result
  const Node* node = nullptr;
  std::array<bool, max_operands> wanted{};
  std::array<Value, max_operands> made{};  ///< by each operand that is wanted, once it is there
  Here at{};
  std::string_view refused{};

  constexpr Value in(int operand) const { return {out.graph, node->inputs[static_cast<std::size_t>(operand)]}; }
  constexpr int count() const { return node->input_count; }
  constexpr Dim dim(Name name) const { return {out.graph, name}; }
  constexpr bool has(int operand, Name dim) const { return dims_of(in(operand)).has(dim); }
  /// There is no gradient by what is named: "its angles".
  constexpr void refuse(std::string_view what) { refused = what; }

  /// `make` gives the gradient by the operand, which is computed if it is wanted. Over dims that the result alone has it is summed.
  constexpr void add(int operand, auto make) {
    if (!wanted[static_cast<std::size_t>(operand)]) return;
    const Value gradient = make();
    const Names own = dims_of(in(operand));
    made[static_cast<std::size_t>(operand)] = spread(sum(gradient, dims_of(gradient).without(own)), own);
  }

  constexpr Value sum(Value x, const Names& over) const { return over.empty() ? x : call(ReduceSum{over}, {x}, at); }
  /// x at each position of the dims that it lacks.
  constexpr Value spread(Value x, const Names& dims) const {
    for (const Name name : dims)
      if (!dims_of(x).has(name)) x = select(index(dim(name), at) >= 0, x, x, at);
    return x;
  }
  /// The product of both, summed over all dims that the operand lacks.
  constexpr Value product(Value a, Value b, int operand) const {
    const Names own = dims_of(in(operand)), of_a = dims_of(a).without(own), of_b = dims_of(b).without(own);
    const Names alone_a = of_a.without(dims_of(b)), alone_b = of_b.without(dims_of(a)), over = of_a.without(alone_a);
    const Value left = sum(a, alone_a), right = sum(b, alone_b);
    return over.empty() ? left * right : call(Matmul{over}, {left, right}, at);
  }
};

}  // namespace attune::detail
