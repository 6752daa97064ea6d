/// A small graph of every operation, for tests that run over AnyOp. A pointwise operation needs nothing here.
#pragma once

#include "dsl/graph.h"

namespace attune {

namespace detail {

/// An operand of each kind in different shapes, so that broadcasting and the order of dims are part of the example.
inline Value example_operand(Graph& g, int i, Kind kind) {
  constexpr std::array<Name, 3> names = {"a", "b", "c"};
  auto [batch, queries, keys] = g.dims("batch", "queries", "keys");
  const Name name = names[static_cast<std::size_t>(i)];
  if (i == 0) return g.input(name, {batch, queries, keys}, kind);
  return i == 1 ? g.input(name, {keys, batch}, kind) : g.input(name, {queries}, kind);
}

constexpr Kind example_kind(Signature signature, int operand) {
  switch (signature) {
    case Signature::integral: return Kind::i64;
    case Signature::logic: return Kind::boolean;
    case Signature::selection: return operand == 0 ? Kind::boolean : Kind::real;
    case Signature::to_real: return Kind::i32;
    default: return Kind::real;
  }
}

/// One example of each operation that is not pointwise.
struct Example {
  Graph& g;
  Dim batch = g.dim("batch"), queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth");

  Value x(Name name = "x") const { return g.input(name, {batch, keys, depth}); }
  Value scalar(Name name) const { return g.input(name, {}, Kind::i64); }

  Value operator()(const Constant&) const { return literal(&g, 0.1, Kind::real, Here::current()); }
  Value operator()(const Input&) const { return g.input("x", {keys, batch}, Kind::u8); }
  Value operator()(const Index&) const { return to_real(index(keys)) + x(); }
  Value operator()(const Extent&) const { return to_real(extent(keys)) * x(); }
  Value operator()(const Matmul&) const { return matmul(g.input("q", {queries, batch, depth}), x(), depth); }
  Value operator()(const Softmax&) const { return softmax(x(), keys); }
  Value operator()(const LogSumExp&) const { return log_sum_exp(x(), keys); }
  Value operator()(const ReduceSum&) const { return sum(x(), {depth, batch}); }
  Value operator()(const ReduceMax&) const { return max(x(), keys); }
  Value operator()(const Concat&) const { return concat({{x(), keys}, {g.input("y", {queries, depth}), queries}}, g.dim("both")); }
  Value operator()(const Rename&) const { return rename(x(), keys, g.dim("tokens")); }
  Value operator()(const Split&) const { return split(x(), depth, {g.dim("outer"), {g.dim("inner"), 2}}); }
  Value operator()(const Merge&) const { return merge(x(), {depth, batch}, g.dim("model")); }
  Value operator()(const Slice&) const { return slice(x(), keys, {.start = 1, .step = 2, .count = 3}, g.dim("few")); }
  Value operator()(const Gather&) const { return gather(x(), g.input("ids", {queries}, Kind::i32), keys); }
  Value operator()(const Dropout&) const { return dropout(x(), 0.25, scalar("seed"), scalar("offset")); }
  Value operator()(const Scale&) const { return scale(x(), g.input("factor", {keys})); }
  Value operator()(const Mask&) const { return mask(x(), g.input("keep", {depth, keys}, Kind::boolean)); }
  Value operator()(const Mean&) const { return mean(x(), {depth, batch}); }
  Value operator()(const JointSoftmax&) const { return softmax(x(), {depth, batch}); }
  Value operator()(const RotaryAngle&) const { return rotary_angle(g.input("position", {keys}, Kind::i32), g.input("steps", {depth}, Kind::i64)); }
  Value operator()(const Linear&) const { return linear(x(), g.input("w", {queries, depth}), g.input("bias", {queries}), depth); }
};

}  // namespace detail

/// A graph that holds the operation; its output "out" has the dims of the value in reverse.
template <class Op>
Graph example_of() {
  Graph g;
  Value result{};
  if constexpr (PointwiseOp<Op>) {
    std::array<Value, 3> operands{};
    for (int i = 0; i < Op::arity; ++i)
      operands[static_cast<std::size_t>(i)] = detail::example_operand(g, i, detail::example_kind(Op::signature, i));
    result = g.add(Op{}, std::span<const Value>(operands.data(), static_cast<std::size_t>(Op::arity)), Here::current());
  } else {
    result = detail::Example{g}(Op{});
  }
  Names dims;
  for (int i = dims_of(result).size(); i-- > 0;) dims.add(dims_of(result)[i]);
  g.output("out", result, dims);
  g.finish();
  return g;
}

}  // namespace attune
