/// Examples of primitives that need many elements of an operand, or draw numbers.
#pragma once

#include "tests/operation_examples/shapes.h"

namespace attune {

struct RowExamples : ShapeExamples {
  using ShapeExamples::ShapeExamples;
  using ShapeExamples::cases, ShapeExamples::example;

  Value example(const Matmul&) { return matmul(q, k, depth); }
  void cases(const Matmul&) {
    const Value a = input({rows, batch, depth}), b = input({batch, columns, depth});
    put(matmul(a, b, depth));
    put(matmul(a, input({depth}), depth));
    put(g.add(Matmul{{"depth", "batch"}}, std::array{a, b}, Here::current()));
  }

  Value example(const Softmax&) { return softmax(scores, keys); }
  void cases(const Softmax&) {
    const Value x = input({batch, rows, columns});
    put(softmax(x, columns));
    put(softmax(x, rows));
    put(matmul(softmax(input({batch, rows, columns}), columns), input({batch, columns, depth}), columns));
  }

  Value example(const LogSumExp&) { return log_sum_exp(scores, keys); }
  void cases(const LogSumExp&) {
    const Value x = input({batch, rows, columns});
    put(log_sum_exp(x, columns));
    const auto [p, lse] = softmax_with_lse(input({batch, rows, columns}), columns);
    put(p);
    put(lse);
    const auto [weights, of_rows] = softmax_with_lse(input({batch, rows, columns}), columns);
    put(matmul(weights, input({batch, columns, depth}), columns));
    put(of_rows);
  }

  Value example(const ReduceSum&) { return sum(scores, keys); }
  void cases(const ReduceSum&) {
    put(sum(input({batch, rows, columns}), columns));
    put(sum(input({batch, rows, columns}), {columns, batch}));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(sum(input({rows, columns}, kind), rows));
  }

  Value example(const ReduceMax&) { return max(scores, {queries, keys}); }
  void cases(const ReduceMax&) {
    put(max(input({batch, rows, columns}), columns));
    put(max(input({batch, rows, columns}), {columns, batch}));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(max(input({rows, columns}, kind), rows));
  }

  Value example(const CumulativeSum&) { return cumulative_sum(lengths, batch); }
  void cases(const CumulativeSum&) {
    const Value x = input({batch, rows, columns});
    put(cumulative_sum(x, columns));
    put(cumulative_sum(x, columns, true) * 0.5);
    put(cumulative_sum(x, rows));
    put(cumulative_sum(x, batch, true));
    put(cumulative_sum(input({rows}), rows));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(cumulative_sum(input({rows, columns}, kind), columns));
  }

  Value example(const ReverseCumulativeSum&) { return reverse_cumulative_sum(scores, keys); }
  void cases(const ReverseCumulativeSum&) {
    put(reverse_cumulative_sum(input({batch, rows, columns}), columns));
    put(reverse_cumulative_sum(input({rows, columns}, Kind::i64), rows, true));
  }

  Value example(const TopK&) { return top_k(scores, keys, 16); }
  void cases(const TopK&) {
    const Value x = input({batch, rows, columns});
    put(top_k(x, columns, 1));
    put(top_k(x, rows, 4));
    put(select(top_k(maximum(x, 0), columns, 7), x, 0));  // many are equal
    put(top_k(input({rows}), rows, 36));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(top_k(input({rows, columns}, kind), columns, 3));
  }

  Value example(const TopKPositions&) { return top_k_positions(scores, keys, 16, choices); }
  void cases(const TopKPositions&) {
    const Dim seven = g.dim("seven", 7), two = g.dim("two", 2);
    put(top_k_positions(input({batch, rows, columns}), columns, 7, seven));
    put(top_k_positions(input({rows, columns}, Kind::i64), rows, 3, two));
    put(sorted_positions(input({batch, rows, columns}), columns, 7, seven));
    put(sorted_positions(minimum(maximum(input({rows, columns}, Kind::i64), -1), 1), rows, 3, two));  // many are equal
  }

  Value example(const Dropout&) { return dropout(softmax(scores, keys), 0.1, seed, offset); }
  void cases(const Dropout&) {
    const Value x = input({batch, rows, columns}), seed = input({}, Kind::i64), offset = input({}, Kind::i64);
    put(dropout(x, 0.25, seed, offset));
    put(dropout(x, 0, offset, seed));
  }

  Value example(const Recurrence&) { return recurrence(k, k, scores, {.log_decay = -0.1}, keys, depth); }
  void cases(const Recurrence&) {
    const Value q = bounded({batch, rows, depth}), k = bounded({batch, rows, depth}), v = bounded({batch, rows, columns});
    const Value decay = bounded({batch, rows}), beta = bounded({batch, rows}), initial = bounded({batch, depth, columns});
    put(recurrence(q, k, v, {}, rows, depth));
    put(recurrence(q, k * 0.125, v, {.log_decay = decay * 0.0625, .beta = beta * 0.0625, .initial = initial}, rows, depth));
    put(recurrence(q, k, bounded({columns, rows}), {.log_decay = k * 0.0625}, rows, depth));
    put(recurrence(q, k, v, {.log_decay = bounded({rows, columns, depth}) * 0.0625, .initial = initial}, rows, depth));
    const Value asked = bounded({batch, rows, depth}) * 0.125, erased = bounded({rows, depth}) * 0.125;
    put(recurrence(q, k, v, {.log_decay = bounded({rows, depth}) * 0.0625, .beta = beta, .initial = initial, .asked = asked, .erased = erased}, rows, depth));
    put(recurrence(q, k, v, {.beta = -1, .asked = asked}, rows, depth));
    const auto [result, state] = recurrence_with_state(bounded({even, rows, depth}), k * 0.125, v, {.log_decay = -0.1, .beta = beta * 0.0625}, rows, depth);
    put(result + 1);
    put(state);
  }

  Value example(const RecurrenceState&) { return recurrence_state(k, scores, {.beta = 0.5}, keys, depth); }
  void cases(const RecurrenceState&) {
    const Value k = bounded({batch, rows, depth}), v = bounded({batch, columns, rows});
    put(recurrence_state(k, v, {}, rows, depth));
    put(recurrence_state(k * 0.125, v, {.log_decay = bounded({rows}) * 0.0625, .beta = 0.125, .initial = bounded({columns})}, rows, depth));
    put(recurrence_state(k, bounded({rows}), {.log_decay = -0.5}, rows, depth));
    put(recurrence_state(k, v, {.beta = 0.5, .asked = bounded({rows, depth}) * 0.125, .erased = k * 0.125}, rows, depth));
  }
};

}  // namespace attune
