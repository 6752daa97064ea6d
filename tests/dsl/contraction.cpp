/// Products and reductions over dims: matmul, linear, reduce_sum, reduce_max, mean, softmax, joint_softmax.
#include "dsl/graph.h"
#include "tests/dsl/values.h"

namespace attune {

TEST_CASE("matmul contracts the named dim and keeps shared ones as batch", "[matmul]") {
  const Arrays inputs = {{"a", array({2, 1, 2}, {1, 2, 3, 4})}, {"b", array({2, 2, 3}, {1, 0, 2, 0, 1, 3, 5, 6, 7, 8, 9, 10})}};
  const Array product = result_of(inputs, [](Graph& g) {
    auto [batch, rows, depth, columns] = g.dims("batch", "rows", "depth", "columns");
    g.output("out", matmul(g.input("a", {batch, rows, depth}), g.input("b", {batch, depth, columns}), depth), {batch, rows, columns});
  });
  check_elements(product, {2, 1, 3}, {1, 2, 8, 47, 54, 61});
}

TEST_CASE("matmul over two dims is one sum over both", "[matmul]") {
  const Arrays inputs = {{"a", array({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, {"b", array({2, 2}, {1, 10, 100, 1000})}};
  const Array product = result_of(inputs, [](Graph& g) {
    auto [rows, heads, depth] = g.dims("rows", "heads", "depth");
    g.output("out", matmul(g.input("a", {rows, heads, depth}), g.input("b", {depth, heads}), {heads, depth}), {rows});
  });
  check_elements(product, {2}, {1 + 200 + 30 + 4000, 5 + 600 + 70 + 8000});
}

TEST_CASE("a sum over nothing is zero", "[matmul]") {
  const Arrays inputs = {{"a", array({2, 0}, {})}, {"b", array({0, 3}, {})}};
  const Array product = result_of(inputs, [](Graph& g) {
    auto [rows, depth, columns] = g.dims("rows", "depth", "columns");
    g.output("out", matmul(g.input("a", {rows, depth}), g.input("b", {depth, columns}), depth), {rows, columns});
  });
  check_elements(product, {2, 3}, std::vector<double>(6, 0));
}

TEST_CASE("a product has up to eight dims, whatever it sums over", "[matmul]") {
  const Arrays inputs = {{"a", array({1, 1, 1, 1, 1, 2, 2}, {1, 2, 3, 4})}, {"b", array({2, 2, 1}, {1, 0, 10, 100})}};
  const Array product = result_of(inputs, [](Graph& g) {
    auto [a, b, c, d, e, rows, depth, columns, last] = g.dims("a", "b", "c", "d", "e", "rows", "depth", "columns", "last");
    const Value x = g.input("a", {a, b, c, d, e, rows, depth}), y = g.input("b", {depth, columns, last});
    g.output("out", matmul(x, y, depth), {a, b, c, d, e, rows, columns, last});
  });
  check_elements(product, {1, 1, 1, 1, 1, 2, 2, 1}, {21, 200, 43, 400});
}

TEST_CASE("a product of more than eight dims is refused", "[matmul]") {
  Graph g;
  auto [a, b, c, d, e, f, rows, depth, columns, last] = g.dims("a", "b", "c", "d", "e", "f", "rows", "depth", "columns", "last");
  const Value x = g.input("a", {a, b, c, d, e, f, rows, depth}), y = g.input("b", {depth, columns, last});
  g.output("out", sum(matmul(x, y, depth), last), {a, b, c, d, e, f, rows, columns});
  const std::string problem(g.problem().view());
  CHECK(problem.find("matmul: the result has more than 8 dims; it begins with [a x b x c x d x e x f x rows x columns]") != std::string::npos);
}

TEST_CASE("NaN and infinities in a product reach its sums only", "[matmul]") {
  const Arrays inputs = {{"a", array({3, 2}, {quiet_nan, 1, 1, 1, infinity, 0})}, {"b", array({2}, {1, 2})}};
  const Array product = result_of(inputs, [](Graph& g) {
    auto [rows, depth] = g.dims("rows", "depth");
    g.output("out", matmul(g.input("a", {rows, depth}), g.input("b", {depth}), depth), {rows});
  });
  check_elements(product, {3}, {quiet_nan, 3, infinity});
}

TEST_CASE("linear maps one dim to two and back, with and without bias", "[linear]") {
  const Arrays inputs = {{"x", array({1, 2}, {1, 2})}, {"w", array({2, 2, 2}, {1, 0, 0, 1, 1, 1, 2, -1})}, {"b", array({2, 2}, {10, 20, 30, 40})}};
  const auto describe = [](bool has_bias) {
    return [has_bias](Graph& g) {
      auto [tokens, model, heads, depth] = g.dims("tokens", "model", "heads", "depth");
      const Value x = g.input("x", {tokens, model}), w = g.input("w", {heads, depth, model}), b = g.input("b", {heads, depth});
      const Value y = has_bias ? linear(x, w, b, model) : linear(x, w, model);
      g.output("out", y, {tokens, heads, depth});
      g.output("back", linear(y, w, {heads, depth}), {tokens, model});
    };
  };
  const Arrays plain = outputs_of(inputs, describe(false)), biased = outputs_of(inputs, describe(true));
  check_elements(plain.at("out"), {1, 2, 2}, {1, 2, 3, 0});
  check_elements(plain.at("back"), {1, 2}, {1 + 3, 2 + 3});
  check_elements(biased.at("out"), {1, 2, 2}, {11, 22, 33, 40});
  check_elements(biased.at("back"), {1, 2}, {11 + 33 + 80, 22 + 33 - 40});
}

TEST_CASE("reductions over one and two dims, and over nothing", "[reduce]") {
  const auto reduced = [](const Array& x, bool over_both) {
    return outputs_of({{"x", x}}, [&](Graph& g) {
      auto [rows, columns] = g.dims("rows", "columns");
      const Value v = g.input("x", {rows, columns});
      if (over_both) g.output("sum", sum(v, {rows, columns}), {});
      if (over_both) g.output("max", max(v, {rows, columns}), {});
      if (!over_both) g.output("sum", sum(v, columns), {rows});
      if (!over_both) g.output("max", max(v, columns), {rows});
    });
  };
  const Array x = array({2, 3}, {1, 5, 2, -4, -9, -6});
  check_elements(reduced(x, false).at("sum"), {2}, {8, -19});
  check_elements(reduced(x, false).at("max"), {2}, {5, -4});
  check_elements(reduced(x, true).at("sum"), {}, {-11});
  check_elements(reduced(x, true).at("max"), {}, {5});
  check_elements(reduced(array({2, 0}, {}), false).at("sum"), {2}, {0, 0});
  check_elements(reduced(array({2, 0}, {}), false).at("max"), {2}, {-infinity, -infinity});
  const Array special = array({3, 2}, {quiet_nan, 1, -infinity, -infinity, infinity, -infinity});
  check_elements(reduced(special, false).at("sum"), {3}, {quiet_nan, -infinity, quiet_nan});
  check_elements(reduced(special, false).at("max"), {3}, {quiet_nan, -infinity, infinity});
}

TEST_CASE("a maximum of integers over nothing is their lowest", "[reduce]") {
  for (const auto& [kind, lowest] : {std::pair{Kind::i32, -2147483648.0}, std::pair{Kind::i64, -9223372036854775808.0}}) {
    const Array got = result_of({{"x", array({0}, {})}}, [&, kind = kind](Graph& g) {
      const Dim rows = g.dim("rows");
      g.output("out", max(g.input("x", {rows}, kind), rows), {});
    });
    check_elements(got, {}, {lowest});
  }
}

namespace {
Array softmaxed(const Array& x) {
  return result_of({{"x", x}}, [](Graph& g) {
    auto [queries, keys] = g.dims("queries", "keys");
    g.output("out", softmax(g.input("x", {queries, keys}), keys), {queries, keys});
  });
}
}  // namespace

TEST_CASE("softmax of a row is its exponentials over their sum", "[softmax]") {
  const double total = 1 + std::exp(1) + std::exp(2);
  check_elements(softmaxed(array({2, 3}, {0, 1, 2, 7, 7, 7})), {2, 3}, {1 / total, std::exp(1) / total, std::exp(2) / total, 1. / 3, 1. / 3, 1. / 3},
                 rounding());
}

TEST_CASE("a softmax over several dims is one row of all of them", "[softmax]") {
  const auto [e1, e2, e3] = std::array{std::exp(1.), std::exp(2.), std::exp(3.)};
  const double total = 1 + e1 + e2 + e3;
  const Arrays inputs = {{"x", array({3, 2, 2}, {0, 3, 1, 2, -infinity, -infinity, -infinity, -infinity, 0, quiet_nan, 1, 2})}};
  const Arrays got = outputs_of(inputs, [](Graph& g) {
    auto [queries, blocks, keys] = g.dims("queries", "blocks", "keys");
    const Value x = g.input("x", {queries, blocks, keys});
    g.output("out", softmax(x, {blocks, keys}), {queries, blocks, keys});
    g.output("one", softmax(x, {keys}), {queries, blocks, keys});
    g.output("same", softmax(x, keys), {queries, blocks, keys});
  });
  check_elements(got.at("out"), {3, 2, 2}, {1 / total, e3 / total, e1 / total, e2 / total, 0, 0, 0, 0, quiet_nan, quiet_nan, quiet_nan, quiet_nan},
                 rounding());
  check_close(got.at("one"), got.at("same"));
}

TEST_CASE("a mean is the sum over the number of terms, NaN over nothing", "[mean]") {
  const auto means = [](const Array& x) {
    return outputs_of({{"x", x}}, [](Graph& g) {
      auto [rows, columns] = g.dims("rows", "columns");
      const Value in = g.input("x", {rows, columns});
      g.output("columns", mean(in, columns), {rows});
      g.output("all", mean(in, {rows, columns}), {});
    });
  };
  const Arrays some = means(array({2, 3}, {1, 2, 6, 0, 0, 12})), none = means(array({1, 0}, {}));
  check_elements(some.at("columns"), {2}, {3, 4});
  check_elements(some.at("all"), {}, {3.5});
  check_elements(none.at("columns"), {1}, {quiet_nan});
}

TEST_CASE("softmax is not hurt by large scores", "[softmax]") {
  check_elements(softmaxed(array({2, 2}, {1e300, 1e300, -1e300, 1e300})), {2, 2}, {0.5, 0.5, 0, 1});
}

TEST_CASE("a fully masked row of a softmax is zeros", "[softmax]") {
  check_elements(softmaxed(array({2, 2}, {-infinity, -infinity, 3, -infinity})), {2, 2}, {0, 0, 1, 0});
}

TEST_CASE("NaN or plus infinity among the scores gives NaN in that row only", "[softmax]") {
  check_elements(softmaxed(array({3, 2}, {quiet_nan, 1, 1, infinity, 0, 0})), {3, 2}, {quiet_nan, quiet_nan, quiet_nan, quiet_nan, 0.5, 0.5});
}

TEST_CASE("log_sum_exp is the logarithm of what a softmax divides by", "[softmax]") {
  const auto logarithms = [](const Array& x, Name over) {
    return result_of({{"x", x}}, [over](Graph& g) {
      auto [outer, middle, inner] = g.dims("outer", "middle", "inner");
      const Value result = log_sum_exp(g.input("x", {outer, middle, inner}), g.dim(over));
      g.output("out", result, dims_of(result));
    });
  };
  // ONNX, ReduceLogSumExp, example of the operator's page: keepdims = 0
  const Array onnx = array({3, 2, 2}, {5, 1, 20, 2, 30, 1, 40, 2, 55, 1, 60, 2});
  check_elements(logarithms(onnx, "middle"), {3, 2}, {20, 2.31326175, 40.00004578, 2.31326175, 60.00671387, 2.31326175}, 1e-5);
  check_elements(logarithms(array({1, 1, 2}, {1e300, 1e300}), "inner"), {1, 1}, {1e300}, 0);
  check_elements(logarithms(array({1, 4, 2}, {-infinity, -infinity, 3, -infinity, quiet_nan, 1, infinity, 0}), "inner"), {1, 4},
                 {-infinity, 3, quiet_nan, quiet_nan}, 0);
  check_elements(logarithms(array({1, 2, 0}, {}), "inner"), {1, 2}, {-infinity, -infinity}, 0);
}

TEST_CASE("softmax over no keys is empty", "[softmax]") { check_elements(softmaxed(array({3, 0}, {})), {3, 0}, {}); }

TEST_CASE("softmax runs over the named dim, wherever it stands", "[softmax]") {
  const Array got = result_of({{"x", array({2, 2}, {0, 5, 0, -infinity})}}, [](Graph& g) {
    auto [keys, queries] = g.dims("keys", "queries");
    g.output("out", softmax(g.input("x", {keys, queries}), keys), {keys, queries});
  });
  check_elements(got, {2, 2}, {0.5, 1, 0.5, 0});
}

}  // namespace attune
