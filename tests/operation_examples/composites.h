/// Examples of composites.
#pragma once

#include "tests/operation_examples/rows.h"

namespace attune {

struct CompositeExamples : RowExamples {
  using RowExamples::RowExamples;
  using RowExamples::cases, RowExamples::example;

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
};

}  // namespace attune
