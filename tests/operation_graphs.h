/// For every operation a graph that holds it alone, in all kinds that it takes, for all tests over AnyOp; a primitive or composite without one does not compile.
#pragma once

#include "tests/random_values.h"

namespace attune {

inline constexpr std::array all_kinds = {Kind::real, Kind::i32, Kind::i64, Kind::i8, Kind::u8, Kind::boolean};

/// Adds an operation's values and their outputs, whose dims stand in the order of the value or in its opposite by turns.
struct OperationGraph {
  Graph& g;
  std::size_t output_count = 0, input_count = 0;
  Dim batch = g.dim("batch"), rows = g.dim("rows"), columns = g.dim("columns"), depth = g.dim("depth"), even = g.dim("even");

  Value input(std::initializer_list<Dim> dims, Kind kind = Kind::real) { return g.input(numbered('i', input_count++), dims, kind); }
  void put(Value value) {
    Names dims;
    const int size = dims_of(value).size();
    for (int i = 0; i < size; ++i) dims.add(dims_of(value)[output_count % 2 == 0 ? i : size - 1 - i]);
    g.output(numbered('o', output_count++), value, dims);
  }
  Value literal_of(double x, Kind kind) { return literal(&g, x, kind, Here::current()); }

  /// Operands lie along dims of their own, so that every pair of their elements meets.
  template <PointwiseOp Op>
  void operator()(const Op& op) {
    for (const Kind kind : all_kinds) {
      if (!detail::is_allowed(Op::signature, kind)) continue;
      std::array<Value, 3> operands{};
      for (std::size_t i = 0; i < static_cast<std::size_t>(Op::arity); ++i) {
        const bool is_condition = Op::signature == Signature::selection && i == 0;
        operands[i] = is_condition ? input({rows, columns}, Kind::boolean) : input({i % 2 == 0 ? columns : rows}, kind);
      }
      put(g.add(op, std::span<const Value>(operands.data(), static_cast<std::size_t>(Op::arity)), Here::current()));
    }
  }

  void operator()(const Constant&) {
    for (const double x : {0.1, -3e38, -std::numeric_limits<double>::infinity()}) put(literal_of(x, Kind::real));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(literal_of(-7, kind));
  }
  void operator()(const Input&) { every_kind_renamed(); }
  void operator()(const Rename&) { every_kind_renamed(); }
  void every_kind_renamed() {
    constexpr std::array<Name, all_kinds.size()> names = {"n0", "n1", "n2", "n3", "n4", "n5"};
    for (std::size_t i = 0; i < names.size(); ++i) put(rename(input({rows, batch, columns}, all_kinds[i]), rows, g.dim(names[i])));
  }
  void operator()(const Index&) {
    input({rows, columns});
    put(index(rows));
    put(index(columns));
  }
  void operator()(const Extent&) {
    input({rows, columns});
    put(extent(rows));
    put(extent(columns));
  }
  void operator()(const Matmul&) {
    const Value a = input({rows, batch, depth}), b = input({batch, columns, depth});
    put(matmul(a, b, depth));
    put(matmul(a, input({depth}), depth));
    put(g.add(Matmul{{"depth", "batch"}}, std::array{a, b}, Here::current()));
  }
  void operator()(const Softmax&) {
    const Value x = input({batch, rows, columns});
    put(softmax(x, columns));
    put(softmax(x, rows));
    put(matmul(softmax(input({batch, rows, columns}), columns), input({batch, columns, depth}), columns));
  }
  void operator()(const LogSumExp&) {
    const Value x = input({batch, rows, columns});
    put(log_sum_exp(x, columns));
    const auto [p, lse] = softmax_with_lse(input({batch, rows, columns}), columns);
    put(p);
    put(lse);
    const auto [weights, of_rows] = softmax_with_lse(input({batch, rows, columns}), columns);
    put(matmul(weights, input({batch, columns, depth}), columns));
    put(of_rows);
  }
  void operator()(const ReduceSum&) {
    put(sum(input({batch, rows, columns}), columns));
    put(sum(input({batch, rows, columns}), {columns, batch}));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(sum(input({rows, columns}, kind), rows));
  }
  void operator()(const ReduceMax&) {
    put(max(input({batch, rows, columns}), columns));
    put(max(input({batch, rows, columns}), {columns, batch}));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(max(input({rows, columns}, kind), rows));
  }
  void operator()(const Concat&) {
    const Dim other = g.dim("other");
    constexpr std::array<Name, 3> names = {"c0", "c1", "c2"};
    constexpr std::array kinds = {Kind::real, Kind::i8, Kind::boolean};
    for (std::size_t i = 0; i < names.size(); ++i)
      put(concat({{input({rows, columns}, kinds[i]), columns}, {input({rows, other}, kinds[i]), other}}, g.dim(names[i])));
    put(concat({input({rows, depth}), input({rows, depth}), input({rows, depth})}, rows, g.dim("c3")));
  }
  void operator()(const Split&) {
    const Dim outer = g.dim("outer"), inner = g.dim("inner");
    for (const Kind kind : {Kind::real, Kind::i32, Kind::boolean}) put(split(input({rows, even}, kind), even, {outer, {inner, 2}}));
  }
  void operator()(const Merge&) {
    const Dim model = g.dim("model");
    for (const Kind kind : {Kind::real, Kind::u8, Kind::boolean}) put(merge(input({rows, batch, depth}, kind), {depth, rows}, model));
  }
  void operator()(const Slice&) {
    const Value x = input({rows, columns, even});
    put(slice(x, rows, {}, g.dim("s0")));
    put(slice(x, columns, {.step = 3}, g.dim("s1")));
    const Dim seven = g.dim("seven", 7);
    put(slice(input({rows, seven}), seven, {.start = 1, .step = 2}, g.dim("s2")));
    put(slice(input({batch, seven}, Kind::u8), seven, {.start = 2, .step = 2, .count = 2}, g.dim("s3")));
    put(matmul(slice(x, rows, {.step = 2}, g.dim("s4")), input({even, depth}), even));
  }
  void operator()(const Gather&) {
    const Value ids = input({depth}, Kind::i64), narrow_ids = input({batch, depth}, Kind::i32);
    for (const Kind kind : all_kinds) put(gather(input({rows, columns}, kind), ids, rows));
    put(gather(input({rows, columns}), narrow_ids, columns));
  }
  void operator()(const Dropout&) {
    const Value x = input({batch, rows, columns}), seed = input({}, Kind::i64), offset = input({}, Kind::i64);
    put(dropout(x, 0.25, seed, offset));
    put(dropout(x, 0, offset, seed));
  }
  void operator()(const Scale&) { put(scale(input({rows, columns}), input({columns}))); }
  void operator()(const Mask&) { put(mask(input({batch, rows, columns}), input({columns, batch}, Kind::boolean))); }
  void operator()(const Mean&) {
    put(mean(input({batch, rows, columns}), columns));
    put(mean(input({batch, rows, columns}), {columns, batch}));
  }
  void operator()(const JointSoftmax&) {
    const Value x = input({batch, rows, columns}), v = input({batch, columns, depth});
    put(softmax(x, {columns}));
    put(softmax(x, {batch, columns}));
    put(softmax(x, {rows, columns, batch}));
    put(matmul(softmax(x, {columns, batch}), v, {batch, columns}));
  }
  void operator()(const RotaryAngle&) {
    for (const Kind kind : {Kind::i64, Kind::i32}) put(rotary_angle(input({rows}, kind), input({columns}, Kind::i64)));
    put(rotary_angle(index(rows), 0.1));
  }
  void operator()(const Linear&) {
    const Value x = input({batch, rows, depth}), weight = input({columns, depth});
    put(linear(x, weight, depth));
    put(linear(x, weight, input({columns}), depth));
  }
};

template <class Op>
Graph graph_of_operation() {
  Graph g;
  OperationGraph{g}(Op{});
  g.finish();
  return g;
}

}  // namespace attune
