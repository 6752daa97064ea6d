/// Examples of leaves, and of operations whose result is elements of their operands.
#pragma once

#include "tests/operation_examples/values.h"

namespace attune {

struct ShapeExamples : ExampleValues {
  using ExampleValues::ExampleValues;

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

 private:
  void every_kind_renamed() {
    constexpr std::array<Name, all_kinds.size()> names = {"n0", "n1", "n2", "n3", "n4", "n5"};
    for (std::size_t i = 0; i < names.size(); ++i) put(rename(input({rows, batch, columns}, all_kinds[i]), rows, g.dim(names[i])));
  }
};

}  // namespace attune
