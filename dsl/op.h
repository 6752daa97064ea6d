/// What operations are made of: fields, values, and the call that adds one to a graph.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string_view>
#include <tuple>

#include "dsl/derivation.h"

namespace attune {

using Here = std::source_location;

/// A named parameter of an operation or a variant: the data member that holds it.
template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::* member;
};

/// Most operands of an operation (a concat of 16 heads).
inline constexpr int max_operands = 16;

class Graph;

/// A dim of a graph under construction.
struct Dim {
  Graph* graph;
  Name name;
};

/// A name with the place where it is written.
struct Label {
  Name name;
  Here at;
  constexpr explicit(false) Label(Name n, Here here = Here::current()) : name(n), at(here) {}
  constexpr explicit(false) Label(const char* n, Here here = Here::current()) : name(n), at(here) {}
};

/// A value of a graph under construction.
struct Value {
  Graph* graph;
  int id;
};

/// Adds `op` applied to `inputs` to the graph; defined in dsl/graph.h.
template <class Op>
constexpr Value call_in(Graph* graph, const Op& op, std::span<const Value> inputs, Here at);
/// The same in the graph of the first input.
template <class Op>
constexpr Value call(const Op& op, std::initializer_list<Value> inputs, Here at) {
  return call_in(inputs.begin()->graph, op, std::span<const Value>(inputs.begin(), inputs.size()), at);
}

/// Makes the graph a wrong one, for what no operation can see in its operands; defined in dsl/graph.h.
constexpr void fail_in(Graph* graph, Here at, const Text& problem);

/// A constant of the kind; defined in dsl/ops/constant.h.
constexpr Value literal(Graph* graph, double value, Kind kind, Here at);
/// The kind of a value; defined in dsl/graph.h.
constexpr Kind kind_of(Value value);
/// The extent that a dim is fixed to in the value's graph, 0 of another; defined in dsl/graph.h.
constexpr std::int64_t fixed_extent(Value value, Name dim);

/// An operand of an operator: a value or a number, with the place of the call.
struct Operand {
  Graph* graph = nullptr;  ///< none: it is the number
  int id = 0;
  double number = 0;
  Here at;

  constexpr explicit(false) Operand(Value v, Here here = Here::current()) : graph(v.graph), id(v.id), at(here) {}
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  constexpr explicit(false) Operand(T v, Here here = Here::current()) : number(static_cast<double>(v)), at(here) {}

  constexpr bool is_value() const { return graph != nullptr; }
  constexpr Value value() const { return {graph, id}; }
  /// This operand in the graph of `other`; a number takes the kind of `other`.
  constexpr Value beside(const Operand& other) const {
    return is_value() ? value() : literal(other.graph, number, kind_of(other.value()), at);
  }
};

// What an operation may say of how kernels compute it, and of the rounding of its real results (dsl/rounding.h):
//   static constexpr bool has_loop             no function of one element of each operand: kernels compute it in a loop of its own
//   static constexpr bool is_walk              each row along `over` gives a row of results, of what is found by walking it (RowWalk or RowChoice in kernels)
//   static constexpr bool is_sum_of_products   the sum, over the dims `over`, of products of one element of each operand
//   static constexpr double roundings = 4      how many times 2^-24 of itself a result of kernels may be off; without it once
//   double roundings(const DimExtents&) const  the same where it depends on extents
//   double rounded_size(const DimExtents&, double result) const  what is rounded in the result's stead, if that may be smaller than its parts
//   void rounded_reference(const DimExtents&, in, out, rounded) const  the reference of an operation that rounds on its way: rounded(x, size) is x, moved
//                                              by a rounding of a number of that size
// And of its gradients (dsl/pulled.h):
//   void pull(auto& g) const                   those by its operands. Without it they are those of what a composite expands to, and none of others

/// The operation has one meaning over many numbers: `apply`.
template <class Op>
concept PointwiseOp = requires { Op::signature; };
/// Numbers of type N have the function that the pointwise operation is: its `apply` takes them. (In compilers' errors it names both.)
template <class Op, class N>
concept HasForm = (Op::arity == 1 && requires(N a) { Op::apply(a); }) || (Op::arity == 2 && requires(N a) { Op::apply(a, a); }) ||
                  (Op::arity == 3 && requires(N a) { Op::apply(a, a, a); });
/// The operation is said in terms of others: `expand`.
template <class Op>
concept CompositeOp = requires(const Op& op, std::span<const Value> in) { op.expand(in, Here{}); };
/// The operation has a shape rule and a reference of its own.
template <class Op>
concept PrimitiveOp = !PointwiseOp<Op> && !CompositeOp<Op>;

}  // namespace attune
