/// Worked examples of courses and papers, with the numbers that they print.
#include "dsl/variants.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

/// The weights of a projection as courses write them (in rows, out columns), in the memory order (out, in).
Array transposed(std::int64_t rows, std::int64_t columns, const std::vector<double>& data) {
  Array a = array({columns, rows}, std::vector<double>(data.size()));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      a.data[static_cast<std::size_t>(j * rows + i)] = data[static_cast<std::size_t>(i * columns + j)];
  return a;
}

/// The graph of SingleHead with its intermediate values among the results.
Graph shown_single_head() {
  Graph g = Graph();
  SingleHead{.weights = true}(g);
  const auto value_of = [&]<class Op>(std::type_identity<Op>, int number) {
    for (std::size_t i = 0; i < g.nodes().size(); ++i)
      if (std::holds_alternative<Op>(g.nodes()[i].op) && number-- == 0) return Value{&g, static_cast<int>(i)};
    FAIL("the graph has too few operations of a kind");
    return Value{&g, 0};
  };
  const auto show = [&](Name name, Value value) { g.output(name, value, dims_of(value)); };
  show("q", value_of(std::type_identity<Linear>(), 0));
  show("k", value_of(std::type_identity<Linear>(), 1));
  show("v", value_of(std::type_identity<Linear>(), 2));
  show("scores", value_of(std::type_identity<Matmul>(), 0));
  g.finish();
  return g;
}

Arrays two_words() {
  return {{"x", array({2, 3}, {1, 0, 0, 0, 2, 2})},
          {"wq", transposed(3, 2, {1, 0, 1, 0, 0, 1})},
          {"wk", transposed(3, 2, {0, 1, 1, 0, 1, 0})},
          {"wv", transposed(3, 2, {2, 0, 3, 0, 0, 3})}};
}

Arrays three_words() {
  return {{"x", array({3, 4}, {1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1})},
          {"wk", transposed(4, 3, {0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0})},
          {"wq", transposed(4, 3, {1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1})},
          {"wv", transposed(4, 3, {0, 2, 0, 0, 3, 0, 1, 0, 3, 1, 1, 0})}};
}

/// Deterministic numbers of about unit size.
Array filled(std::vector<std::int64_t> extents, double scale = 1) {
  std::size_t size = 1;
  for (std::int64_t e : extents) size *= static_cast<std::size_t>(e);
  std::vector<double> data(size);
  static std::uint32_t state = 1;
  for (double& x : data) {
    state = state * 1664525u + 1013904223u;
    x = scale * (static_cast<double>(state >> 8) / 8388608.0 - 1);
  }
  return array(std::move(extents), std::move(data));
}

Arrays layer(std::int64_t batch, std::int64_t tokens, std::int64_t model, std::int64_t heads, std::int64_t depth) {
  const double scale = 1 / std::sqrt(static_cast<double>(model));
  return {{"x", filled({batch, tokens, model})},
          {"wq", filled({heads, depth, model}, scale)},
          {"wk", filled({heads, depth, model}, scale)},
          {"wv", filled({heads, depth, model}, scale)},
          {"wo", filled({model, heads, depth}, scale)}};
}

void check_rows_sum_to_one(const Array& weights) {
  const auto row = static_cast<std::size_t>(weights.extents.back());
  for (std::size_t i = 0; i < weights.data.size(); i += row) {
    double sum = 0;
    for (std::size_t j = 0; j < row; ++j) sum += weights.data[i + j];
    REQUIRE(std::abs(sum - 1) <= rounding(static_cast<double>(row)));
  }
}

using Extents = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("two words of width 3 give the published numbers", "[worked]") {
  const Arrays out = outputs_of(shown_single_head(), two_words());
  check_elements(out.at("q"), {2, 2}, {1, 0, 2, 2});
  check_elements(out.at("k"), {2, 2}, {0, 1, 4, 0});
  check_elements(out.at("v"), {2, 2}, {2, 0, 6, 6});
  check_elements(out.at("scores"), {2, 2}, {0, 4, 2, 8});
  check_elements(out.at("weights"), {2, 2}, {0.0180, 0.9820, 0.0025, 0.9975}, published(4));
  check_elements(out.at("out"), {2, 2}, {5.928, 5.892, 5.990, 5.985}, published(3));
}

TEST_CASE("the residual form adds the result to the token", "[worked]") {
  Arrays inputs = two_words();
  inputs["wv"] = filled({3, 3});  // the value width must be that of the token
  const Arrays plain = outputs_of(build(SingleHead{}), inputs);
  Array expected = plain.at("out");
  for (std::size_t i = 0; i < expected.data.size(); ++i) expected.data[i] += inputs.at("x").data[i];
  check_close(outputs_of(build(SingleHead{.residual = true}), inputs).at("out"), expected);

  CHECK(interpret(build(SingleHead{.residual = true}), two_words()).problem == "input 'x' has model = 3; it must be 2");
}

TEST_CASE("the attention width of a single head is free", "[worked]") {
  Arrays inputs = two_words();
  for (const char* weight : {"wq", "wk", "wv"}) inputs[weight] = filled({8, 3});
  CHECK(outputs_of(build(SingleHead{}), inputs).at("out").extents == Extents{2, 8});
}

TEST_CASE("three words of width 4 give the published numbers", "[worked]") {
  const Arrays out = outputs_of(shown_single_head(), three_words());
  check_elements(out.at("scores"), {3, 3}, {2, 4, 4, 4, 16, 12, 4, 12, 10});
  check_elements(out.at("out"), {3, 3}, {1.9366, 6.6831, 1.5951, 2.0000, 7.9640, 0.0540, 1.9997, 7.7599, 0.3584}, published(4));
}

TEST_CASE("one head of 64 on tokens of 512 returns its weights", "[worked]") {
  const Arrays inputs = {
      {"x", filled({2, 10, 512})}, {"wq", filled({64, 512}, 0.05)}, {"wk", filled({64, 512}, 0.05)}, {"wv", filled({64, 512}, 0.05)}};
  const Arrays out = outputs_of(build(SingleHead{.batched = true, .weights = true}), inputs);
  CHECK(out.at("out").extents == Extents{2, 10, 64});
  CHECK(out.at("weights").extents == Extents{2, 10, 10});
  check_rows_sum_to_one(out.at("weights"));
}

TEST_CASE("8 heads on tokens of 512 give tokens of 512", "[worked]") {
  const Arrays out = outputs_of(build(MultiHead{.weights = true}), layer(2, 10, 512, 8, 64));
  CHECK(out.at("out").extents == Extents{2, 10, 512});
  CHECK(out.at("weights").extents == Extents{2, 8, 10, 10});
  check_rows_sum_to_one(out.at("weights"));
}

TEST_CASE("8 heads of width 512 on 7 x 65 tokens take mask, factors and dropout at once", "[worked]") {
  Arrays inputs = layer(7, 65, 512, 8, 512);
  inputs["mask"] = array({7, 65, 65}, std::vector<double>(7 * 65 * 65, 1));
  for (std::size_t i = 0; i < inputs["mask"].data.size(); i += 3) inputs["mask"].data[i] = 0;
  inputs["score_weights"] = filled({7, 8, 65, 65});
  inputs["seed"] = scalar(7);
  inputs["offset"] = scalar(0);
  const Arrays out = outputs_of(build(MultiHead{.score_weights = true, .mask = true, .dropout = 0.2, .weights = true}), inputs);
  CHECK(out.at("out").extents == Extents{7, 65, 512});
  CHECK(out.at("weights").extents == Extents{7, 8, 65, 65});
  check_rows_sum_to_one(out.at("weights"));
  for (std::size_t i = 0; i < 65 * 65; ++i)
    if (inputs["mask"].data[i] == 0) REQUIRE(out.at("weights").data[i] == 0);
}

TEST_CASE("8 heads of 3 tokens and depth 256 return result and weights", "[worked]") {
  const Arrays inputs = {{"q", filled({2, 8, 3, 256})}, {"k", filled({2, 8, 3, 256})}, {"v", filled({2, 8, 3, 256})}};
  const Arrays out = outputs_of(build(ScaledDotProduct{.weights = true}), inputs);
  CHECK(out.at("out").extents == Extents{2, 8, 3, 256});
  CHECK(out.at("weights").extents == Extents{2, 8, 3, 3});
  check_rows_sum_to_one(out.at("weights"));
}

TEST_CASE("a mask is broadcast over 8 heads of 4 x 32 tokens under dropout 0.1", "[worked]") {
  Arrays inputs = layer(4, 32, 512, 8, 64);
  inputs["mask"] = array({4, 32, 32}, std::vector<double>(4 * 32 * 32));
  for (std::size_t i = 0; i < inputs["mask"].data.size(); ++i) inputs["mask"].data[i] = i % 32 <= i / 32 % 32;
  inputs["seed"] = scalar(1);
  inputs["offset"] = scalar(2);
  const Arrays out = outputs_of(build(MultiHead{.mask = true, .dropout = 0.1, .weights = true}), inputs);
  CHECK(out.at("out").extents == Extents{4, 32, 512});
  const Array& weights = out.at("weights");
  for (std::size_t i = 0; i < weights.data.size(); ++i)
    if (i % 32 > i / 32 % 32) REQUIRE(weights.data[i] == 0);  // above the diagonal, in every head
}

TEST_CASE("3 heads of width 2, concatenated and projected, are one wide projection with the same weights", "[worked]") {
  const std::int64_t tokens = 5, model = 4, heads = 3, depth = 2;
  Arrays inputs = layer(1, tokens, model, heads, depth);
  const Array wide = outputs_of(build(MultiHead{}), inputs).at("out");

  // each head by itself, on its own part of the weights
  Arrays parts = {{"wo", array({model, heads * depth}, inputs.at("wo").data)}};
  std::vector<std::string> names = {"head_0", "head_1", "head_2"};
  for (std::size_t head = 0; head < names.size(); ++head) {
    Arrays own = {{"x", array({tokens, model}, inputs.at("x").data)}};
    for (const char* weight : {"wq", "wk", "wv"}) {
      const auto first = inputs.at(weight).data.begin() + static_cast<std::ptrdiff_t>(head) * depth * model;
      own[weight] = array({depth, model}, std::vector<double>(first, first + depth * model));
    }
    own["wq"].data = [&] {  // a single head does not scale; its queries do
      std::vector<double> scaled = own["wq"].data;
      for (double& x : scaled) x /= std::sqrt(static_cast<double>(depth));
      return scaled;
    }();
    parts[names[head]] = outputs_of(build(SingleHead{}), own).at("out");
  }
  const Array joined = result_of(parts, [](Graph& g) {
    auto [t, d, width, m] = g.dims("tokens", "depth", "width", "model");
    const Value a = g.input("head_0", {t, d}), b = g.input("head_1", {t, d}), c = g.input("head_2", {t, d});
    g.output("out", linear(concat({a, b, c}, d, width), g.input("wo", {m, width}), width), {t, m});
  });
  check_close(array({tokens, model}, wide.data), joined, rounding(12));
}

}  // namespace attune
