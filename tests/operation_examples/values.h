/// What examples of operations are made of: dims, the values that the page of the language introduces, inputs and outputs of cases.
#pragma once

#include "tests/random_values.h"

namespace attune {

inline constexpr std::array all_kinds = {Kind::real, Kind::i32, Kind::i64, Kind::i8, Kind::u8, Kind::boolean};

struct ExampleValues {
  enum class Use { page, cases };
  ExampleValues(Graph& graph, Use of) : g(graph), use(of) {}

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
  /// Where an infinite number meets zeros, one sum is NaN whose other form is infinite: kernels may take either (docs/language.md).
  Value bounded(std::initializer_list<Dim> dims) { return minimum(maximum(input(dims), -4), 4); }
};

}  // namespace attune
