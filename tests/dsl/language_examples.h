/// One example for every operation: docs/language.md quotes what stands between `return` and `;`, and a test builds it.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Values as the page introduces them. A missing example is a compile error that names the operation.
struct LanguageExamples {
  Graph& g;
  Dim batch = g.dim("batch"), heads = g.dim("heads"), queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth");
  Dim tokens = g.dim("tokens"), past_tokens = g.dim("past_tokens"), model = g.dim("model"), hidden = g.dim("hidden");
  Dim vocabulary = g.dim("vocabulary"), width = g.dim("width"), odd_tokens = g.dim("odd_tokens");
  Value q = g.input("q", {batch, heads, queries, depth});
  Value k = g.input("k", {batch, heads, keys, depth});
  Value scores = g.input("scores", {batch, heads, queries, keys});
  Value bias = g.input("bias", {heads, queries, keys});
  Value is_visible = g.input("is_visible", {queries, keys}, Kind::boolean);
  Value lengths = g.input("lengths", {batch}, Kind::i64);
  Value x = g.input("x", {batch, tokens, model});
  Value past = g.input("past", {batch, past_tokens, model});
  Value weight = g.input("weight", {hidden, model});
  Value offsets = g.input("offsets", {hidden});
  Value table = g.input("table", {vocabulary, model});
  Value ids = g.input("ids", {batch, tokens}, Kind::i64);
  Value steps = g.input("steps", {width}, Kind::i64);
  Value seed = g.input("seed", {}, Kind::i64);
  Value offset = g.input("offset", {}, Kind::i64);

  Value operator()(const Constant&) { return 2 * scores; }
  Value operator()(const Input&) { return g.input("values", {batch, heads, keys, depth}); }
  Value operator()(const Index&) { return index(keys); }
  Value operator()(const Extent&) { return extent(keys); }
  Value operator()(const Matmul&) { return matmul(q, k, depth); }
  Value operator()(const Softmax&) { return softmax(scores, keys); }
  Value operator()(const LogSumExp&) { return log_sum_exp(scores, keys); }
  Value operator()(const ReduceSum&) { return sum(scores, keys); }
  Value operator()(const ReduceMax&) { return max(scores, {queries, keys}); }
  Value operator()(const Concat&) { return concat({{past, past_tokens}, {x, tokens}}, keys); }
  Value operator()(const Rename&) { return rename(x, tokens, keys); }
  Value operator()(const Split&) { return split(x, model, {{heads, 12}, width}); }
  Value operator()(const Merge&) { return merge(q, {heads, depth}, width); }
  Value operator()(const Slice&) { return slice(x, tokens, {.start = 1, .step = 2}, odd_tokens); }
  Value operator()(const Gather&) { return gather(table, ids, vocabulary); }
  Value operator()(const Dropout&) { return dropout(softmax(scores, keys), 0.1, seed, offset); }

  Value operator()(const Add&) { return scores + bias; }
  Value operator()(const Subtract&) { return index(queries) - index(keys); }
  Value operator()(const Multiply&) { return scores * 0.125; }
  Value operator()(const Divide&) { return scores / 30; }
  Value operator()(const FloorDiv&) { return floor_div(index(keys), 64); }
  Value operator()(const Mod&) { return mod(index(keys), 64); }
  Value operator()(const Negate&) { return -scores; }
  Value operator()(const Abs&) { return abs(index(queries) - index(keys)); }
  Value operator()(const Minimum&) { return minimum(scores, 50); }
  Value operator()(const Maximum&) { return maximum(scores, bias); }
  Value operator()(const Less&) { return index(keys) < lengths; }
  Value operator()(const LessEqual&) { return index(keys) <= index(queries); }
  Value operator()(const Greater&) { return scores > 0; }
  Value operator()(const GreaterEqual&) { return index(queries) >= index(keys); }
  Value operator()(const Equal&) { return mod(index(keys), 4) == 0; }
  Value operator()(const NotEqual&) { return index(queries) != index(keys); }
  Value operator()(const And&) { return is_visible && index(keys) < lengths; }
  Value operator()(const Or&) { return is_visible || index(keys) < 4; }
  Value operator()(const Not&) { return !is_visible; }
  Value operator()(const Select&) { return select(is_visible, scores, 0); }
  Value operator()(const Exp&) { return exp(scores); }
  Value operator()(const Log&) { return log(scores); }
  Value operator()(const Sqrt&) { return sqrt(extent(depth)); }
  Value operator()(const Rsqrt&) { return rsqrt(extent(depth)); }
  Value operator()(const Pow&) { return pow(scores, 3); }
  Value operator()(const Tanh&) { return tanh(scores); }
  Value operator()(const Erf&) { return erf(scores); }
  Value operator()(const Sin&) { return sin(scores); }
  Value operator()(const Cos&) { return cos(scores); }
  Value operator()(const Sigmoid&) { return sigmoid(scores); }
  Value operator()(const ToReal&) { return to_real(index(keys)); }
  Value operator()(const ToI64&) { return to_i64(scores); }

  Value operator()(const Scale&) { return scale(scores, 1 / sqrt(extent(depth))); }
  Value operator()(const Mask&) { return mask(scores, index(queries) >= index(keys)); }
  Value operator()(const Mean&) { return mean(x, model); }
  Value operator()(const JointSoftmax&) { return softmax(scores, {queries, keys}); }
  Value operator()(const RotaryAngle&) { return rotary_angle(index(tokens), steps); }
  Value operator()(const Linear&) { return linear(x, weight, offsets, model); }
};

}  // namespace attune
