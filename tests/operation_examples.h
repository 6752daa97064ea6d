/// Examples of every operation: one that docs/language.md quotes (what stands between `return` and `;`), and cases for all tests over AnyOp, which
/// take it alone in all kinds. An operation without an example does not compile, nor a primitive or composite without cases.
#pragma once

#include "tests/random_values.h"

namespace attune {

inline constexpr std::array all_kinds = {Kind::real, Kind::i32, Kind::i64, Kind::i8, Kind::u8, Kind::boolean};

struct OperationExamples {
  enum class Use { page, cases };
  Graph& g;
  const Use use;
  std::size_t output_count = 0, input_count = 0;

  Dim batch = g.dim("batch"), heads = g.dim("heads"), queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth");
  Dim tokens = g.dim("tokens"), past_tokens = g.dim("past_tokens"), model = g.dim("model"), hidden = g.dim("hidden");
  Dim vocabulary = g.dim("vocabulary"), width = g.dim("width"), odd_tokens = g.dim("odd_tokens"), choices = use == Use::page ? g.dim("choices", 16) : g.dim("choices");
  // of cases
  Dim rows = g.dim("rows"), columns = g.dim("columns"), even = g.dim("even");

  // Values as the page introduces them.
  Value q = of_page("q", {batch, heads, queries, depth});
  Value k = of_page("k", {batch, heads, keys, depth});
  Value scores = of_page("scores", {batch, heads, queries, keys});
  Value bias = of_page("bias", {heads, queries, keys});
  Value is_visible = of_page("is_visible", {queries, keys}, Kind::boolean);
  Value lengths = of_page("lengths", {batch}, Kind::i64);
  Value x = of_page("x", {batch, tokens, model});
  Value past = of_page("past", {batch, past_tokens, model});
  Value weight = of_page("weight", {hidden, model});
  Value offsets = of_page("offsets", {hidden});
  Value gain = of_page("gain", {model});
  Value shift = of_page("shift", {model});
  Value table = of_page("table", {vocabulary, model});
  Value ids = of_page("ids", {batch, tokens}, Kind::i64);
  Value steps = of_page("steps", {width}, Kind::i64);
  Value seed = of_page("seed", {}, Kind::i64);
  Value offset = of_page("offset", {}, Kind::i64);

  Value of_page(Name name, std::initializer_list<Dim> dims, Kind kind = Kind::real) { return use == Use::page ? g.input(name, dims, kind) : Value(); }

  Value input(std::initializer_list<Dim> dims, Kind kind = Kind::real) { return g.input(numbered('i', input_count++), dims, kind); }
  /// An output, whose dims stand in the order of the value or in its opposite by turns.
  void put(Value value) {
    Names dims;
    const int size = dims_of(value).size();
    for (int i = 0; i < size; ++i) dims.add(dims_of(value)[output_count % 2 == 0 ? i : size - 1 - i]);
    g.output(numbered('o', output_count++), value, dims);
  }
  Value literal_of(double x, Kind kind) { return literal(&g, x, kind, Here::current()); }

  /// Operands lie along dims of their own, so that every pair of their elements meets.
  template <PointwiseOp Op>
  void cases(const Op& op) {
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

  Value example(const Constant&) { return 2 * scores; }
  void cases(const Constant&) {
    for (const double x : {0.1, -3e38, -std::numeric_limits<double>::infinity()}) put(literal_of(x, Kind::real));
    for (const Kind kind : {Kind::i64, Kind::i32}) put(literal_of(-7, kind));
  }

  Value example(const Input&) { return g.input("values", {batch, heads, keys, depth}); }
  void cases(const Input&) { every_kind_renamed(); }

  Value example(const Index&) { return index(keys); }
  void cases(const Index&) {
    input({rows, columns});
    put(index(rows));
    put(index(columns));
  }

  Value example(const Extent&) { return extent(keys); }
  void cases(const Extent&) {
    input({rows, columns});
    put(extent(rows));
    put(extent(columns));
  }

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

  Value example(const Concat&) { return concat({{past, past_tokens}, {x, tokens}}, keys); }
  void cases(const Concat&) {
    const Dim other = g.dim("other");
    constexpr std::array<Name, 3> names = {"c0", "c1", "c2"};
    constexpr std::array kinds = {Kind::real, Kind::i8, Kind::boolean};
    for (std::size_t i = 0; i < names.size(); ++i)
      put(concat({{input({rows, columns}, kinds[i]), columns}, {input({rows, other}, kinds[i]), other}}, g.dim(names[i])));
    put(concat({input({rows, depth}), input({rows, depth}), input({rows, depth})}, rows, g.dim("c3")));
  }

  Value example(const Rename&) { return rename(x, tokens, keys); }
  void cases(const Rename&) { every_kind_renamed(); }
  void every_kind_renamed() {
    constexpr std::array<Name, all_kinds.size()> names = {"n0", "n1", "n2", "n3", "n4", "n5"};
    for (std::size_t i = 0; i < names.size(); ++i) put(rename(input({rows, batch, columns}, all_kinds[i]), rows, g.dim(names[i])));
  }

  Value example(const Split&) { return split(x, model, {{heads, 12}, width}); }
  void cases(const Split&) {
    const Dim outer = g.dim("outer"), inner = g.dim("inner");
    for (const Kind kind : {Kind::real, Kind::i32, Kind::boolean}) put(split(input({rows, even}, kind), even, {outer, {inner, 2}}));
  }

  Value example(const Merge&) { return merge(q, {heads, depth}, width); }
  void cases(const Merge&) {
    const Dim model = g.dim("model");
    for (const Kind kind : {Kind::real, Kind::u8, Kind::boolean}) put(merge(input({rows, batch, depth}, kind), {depth, rows}, model));
  }

  Value example(const Slice&) { return slice(x, tokens, {.start = 1, .step = 2}, odd_tokens); }
  void cases(const Slice&) {
    const Value x = input({rows, columns, even});
    put(slice(x, rows, {}, g.dim("s0")));
    put(slice(x, columns, {.step = 3}, g.dim("s1")));
    const Dim seven = g.dim("seven", 7);
    put(slice(input({rows, seven}), seven, {.start = 1, .step = 2}, g.dim("s2")));
    put(slice(input({batch, seven}, Kind::u8), seven, {.start = 2, .step = 2, .count = 2}, g.dim("s3")));
    put(matmul(slice(x, rows, {.step = 2}, g.dim("s4")), input({even, depth}), even));
  }

  Value example(const Gather&) { return gather(table, ids, vocabulary); }
  void cases(const Gather&) {
    const Value ids = input({depth}, Kind::i64), narrow_ids = input({batch, depth}, Kind::i32);
    for (const Kind kind : all_kinds) put(gather(input({rows, columns}, kind), ids, rows));
    put(gather(input({rows, columns}), narrow_ids, columns));
    put(gather(input({batch, rows, columns}), input({batch, rows}, Kind::i64), rows));
  }

  Value example(const WriteRows&) { return write_rows(past, past_tokens, x, tokens, lengths); }
  void cases(const WriteRows&) {
    const Value start = input({}, Kind::i64), starts = input({batch}, Kind::i32), x = input({batch, rows, columns});
    put(write_rows(x, rows, input({even, columns, batch}), even, start));
    put(write_rows(x, columns, input({even}), even, starts, true));
    put(write_rows(input({depth}, Kind::u8), depth, input({rows}, Kind::u8), rows, start, true));
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
    const auto [result, state] = recurrence_with_state(bounded({even, rows, depth}), k * 0.125, v, {.log_decay = -0.1, .beta = beta * 0.0625}, rows, depth);
    put(result + 1);
    put(state);
  }
  /// Where an infinite number meets zeros, one sum is NaN whose other form is infinite: kernels may take either (docs/language.md).
  Value bounded(std::initializer_list<Dim> dims) { return minimum(maximum(input(dims), -4), 4); }

  Value example(const RecurrenceState&) { return recurrence_state(k, scores, {.beta = 0.5}, keys, depth); }
  void cases(const RecurrenceState&) {
    const Value k = bounded({batch, rows, depth}), v = bounded({batch, columns, rows});
    put(recurrence_state(k, v, {}, rows, depth));
    put(recurrence_state(k * 0.125, v, {.log_decay = bounded({rows}) * 0.0625, .beta = 0.125, .initial = bounded({columns})}, rows, depth));
    put(recurrence_state(k, bounded({rows}), {.log_decay = -0.5}, rows, depth));
  }

  Value example(const Scale&) { return scale(scores, 1 / sqrt(extent(depth))); }
  void cases(const Scale&) { put(scale(input({rows, columns}), input({columns}))); }

  Value example(const Mask&) { return mask(scores, index(queries) >= index(keys)); }
  void cases(const Mask&) { put(mask(input({batch, rows, columns}), input({columns, batch}, Kind::boolean))); }

  Value example(const Mean&) { return mean(x, model); }
  void cases(const Mean&) {
    put(mean(input({batch, rows, columns}), columns));
    put(mean(input({batch, rows, columns}), {columns, batch}));
  }

  Value example(const JointSoftmax&) { return softmax(scores, {queries, keys}); }
  void cases(const JointSoftmax&) {
    const Value x = input({batch, rows, columns}), v = input({batch, columns, depth});
    put(softmax(x, {columns}));
    put(softmax(x, {batch, columns}));
    put(softmax(x, {rows, columns, batch}));
    put(matmul(softmax(x, {columns, batch}), v, {batch, columns}));
  }

  Value example(const RotaryAngle&) { return rotary_angle(index(tokens), steps); }
  void cases(const RotaryAngle&) {
    for (const Kind kind : {Kind::i64, Kind::i32}) put(rotary_angle(input({rows}, kind), input({columns}, Kind::i64)));
    put(rotary_angle(index(rows), 0.1));
  }

  Value example(const RotarySteps&) { return rotary_steps(index(width), 10000, 64); }
  void cases(const RotarySteps&) {
    for (const std::int64_t width : {2, 10}) put(rotary_steps(input({rows}, Kind::i64), 500000, width));
    put(rotary_steps(index(columns), 10000, 64) + input({columns}, Kind::i64));
  }

  Value example(const RotaryEmbedding&) { return rotary_embedding(q, rotary_angle(index(queries), steps), depth, width, RotaryPairs::interleaved); }
  void cases(const RotaryEmbedding&) {
    const Dim seven = g.dim("seven", 7), two = g.dim("two", 2);
    for (const RotaryPairs form : {RotaryPairs::half_split, RotaryPairs::interleaved})
      put(rotary_embedding(input({rows, seven, batch}), input({rows, two}), input({two, rows}), seven, two, form));
    put(rotary_embedding(input({rows, seven}), rotary_angle(index(rows), rotary_steps(index(two), 10000, 4)), seven, two, RotaryPairs::half_split));
  }

  Value example(const RmsNorm&) { return rms_norm(x, gain, model); }
  void cases(const RmsNorm&) {
    put(rms_norm(input({batch, rows, columns}), input({columns}), columns));
    put(rms_norm(input({batch, rows, columns}), input({rows, columns}), {rows, columns}, 0.5));
  }

  Value example(const LayerNorm&) { return layer_norm(x, gain, shift, model); }
  void cases(const LayerNorm&) {
    put(layer_norm(input({batch, rows, columns}), input({columns}), columns, 0.5));
    put(layer_norm(input({batch, rows, columns}), input({rows}), input({columns, rows}), {rows, columns}, 0.5));
  }

  Value example(const Gelu&) { return gelu(x); }
  void cases(const Gelu&) {
    put(gelu(input({rows, columns})));
    put(gelu_by_tanh(input({rows, columns})));
  }
  Value example(const Silu&) { return silu(x); }
  void cases(const Silu&) { put(silu(input({rows, columns}))); }
  Value example(const Softplus&) { return softplus(x); }
  void cases(const Softplus&) { put(softplus(input({rows, columns}))); }

  Value example(const Linear&) { return linear(x, weight, offsets, model); }
  void cases(const Linear&) {
    const Value x = input({batch, rows, depth}), weight = input({columns, depth});
    put(linear(x, weight, depth));
    put(linear(x, weight, input({columns}), depth));
  }

  Value example(const Add&) { return scores + bias; }
  Value example(const Subtract&) { return index(queries) - index(keys); }
  Value example(const Multiply&) { return scores * 0.125; }
  Value example(const Divide&) { return scores / 30; }
  Value example(const FloorDiv&) { return floor_div(index(keys), 64); }
  Value example(const Mod&) { return mod(index(keys), 64); }
  Value example(const BitAnd&) { return bit_and(index(keys), 63); }
  Value example(const BitOr&) { return bit_or(index(keys), 64); }
  Value example(const BitXor&) { return bit_xor(index(queries), index(keys)); }
  Value example(const ShiftLeft&) { return shift_left(index(keys), 6); }
  Value example(const ShiftRight&) { return shift_right(index(keys), 6); }
  Value example(const Negate&) { return -scores; }
  Value example(const Abs&) { return abs(index(queries) - index(keys)); }
  Value example(const Minimum&) { return minimum(scores, 50); }
  Value example(const Maximum&) { return maximum(scores, bias); }
  Value example(const Less&) { return index(keys) < lengths; }
  Value example(const LessEqual&) { return index(keys) <= index(queries); }
  Value example(const Greater&) { return scores > 0; }
  Value example(const GreaterEqual&) { return index(queries) >= index(keys); }
  Value example(const Equal&) { return mod(index(keys), 4) == 0; }
  Value example(const NotEqual&) { return index(queries) != index(keys); }
  Value example(const And&) { return is_visible && index(keys) < lengths; }
  Value example(const Or&) { return is_visible || index(keys) < 4; }
  Value example(const Not&) { return !is_visible; }
  Value example(const Select&) { return select(is_visible, scores, 0); }
  Value example(const Exp&) { return exp(scores); }
  Value example(const Log&) { return log(scores); }
  Value example(const Sqrt&) { return sqrt(extent(depth)); }
  Value example(const Rsqrt&) { return rsqrt(extent(depth)); }
  Value example(const Pow&) { return pow(scores, 3); }
  Value example(const Tanh&) { return tanh(scores); }
  Value example(const Erf&) { return erf(scores); }
  Value example(const Sin&) { return sin(scores); }
  Value example(const Cos&) { return cos(scores); }
  Value example(const Sigmoid&) { return sigmoid(scores); }
  Value example(const Floor&) { return floor(scores); }
  Value example(const ToReal&) { return to_real(index(keys)); }
  Value example(const ToI64&) { return to_i64(scores); }
};

template <class Op>
Graph graph_of_operation() {
  Graph g;
  OperationExamples{g, OperationExamples::Use::cases}.cases(Op{});
  g.finish();
  return g;
}

}  // namespace attune
