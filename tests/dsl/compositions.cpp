/// Operations made of others, against what they say they compute.
#include <cmath>

#include "dsl/graph.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

std::vector<double> drawn(std::size_t count, double scale) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(scale * std::sin(1.7 * static_cast<double>(i) + 0.3));
  return numbers;
}

/// x [rows, depth] turned by hand: the angle of position p and pair i is p * base^(-2 i / (2 pairs)).
std::vector<double> turned(const std::vector<double>& x, std::size_t depth, std::size_t pairs, double base, bool is_interleaved) {
  std::vector<double> y = x;
  for (std::size_t p = 0; p < x.size() / depth; ++p)
    for (std::size_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(p) * std::pow(base, -static_cast<double>(i) / static_cast<double>(pairs));
      const std::size_t first = p * depth + (is_interleaved ? 2 * i : i), second = is_interleaved ? first + 1 : first + pairs;
      y[first] = x[first] * std::cos(angle) - x[second] * std::sin(angle);
      y[second] = x[second] * std::cos(angle) + x[first] * std::sin(angle);
    }
  return y;
}

}  // namespace

TEST_CASE("rotary embedding turns its pairs and leaves the rest as it is", "[rotary]") {
  constexpr std::size_t rows = 5, depth = 11;
  const std::vector<double> x = drawn(rows * depth, 2);
  for (const RotaryPairs form : {RotaryPairs::half_split, RotaryPairs::interleaved})
    for (const std::size_t count : {1, 3, 5}) {
      INFO(count << " pairs");
      const Array got = result_of({{"x", array({rows, depth}, x)}}, [&](Graph& g) {
        const Dim tokens = g.dim("tokens"), d = g.dim("depth"), pairs = g.dim("pairs", static_cast<std::int64_t>(count));
        const Value angles = rotary_angle(index(tokens), rotary_steps(index(pairs), 100, static_cast<std::int64_t>(2 * count)));
        g.output("out", rotary_embedding(g.input("x", {tokens, d}), angles, d, pairs, form), {tokens, d});
      });
      check_elements(got, {rows, depth}, turned(x, depth, count, 100, form == RotaryPairs::interleaved), 1e-7);
    }
}

TEST_CASE("rotary steps are the powers of the base within 4e-12 radians", "[rotary]") {
  for (const double base : {1.0, 10000.0, 500000.0})
    for (const std::int64_t width : {2, 6, 64, 128, 4096}) {
      INFO("base " << base << ", width " << width);
      const Array got = result_of({{"x", array({width / 2}, drawn(static_cast<std::size_t>(width / 2), 1))}}, [&](Graph& g) {
        const Dim pairs = g.dim("pairs");
        g.output("out", to_real(rotary_steps(index(pairs), base, width)) + 0 * g.input("x", {pairs}), {pairs});
      });
      for (std::size_t i = 0; i < got.data.size(); ++i) {
        const double step = std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(width));
        CHECK(std::abs(got.data[i] * 0x1p-44 * 6.283185307179586 - step) < 2e-12 * std::log2(static_cast<double>(width)));
      }
    }
}

TEST_CASE("normalisations are those of their formulas", "[normalisation]") {
  constexpr std::size_t rows = 3, width = 7;
  const std::vector<double> x = drawn(rows * width, 3), weight = drawn(width, 1), bias = drawn(width, 0.5);
  std::vector<double> rms(x.size()), layer(x.size());
  for (std::size_t r = 0; r < rows; ++r) {
    double mean = 0, square = 0, variance = 0;
    for (std::size_t i = 0; i < width; ++i) mean += x[r * width + i] / width, square += x[r * width + i] * x[r * width + i] / width;
    for (std::size_t i = 0; i < width; ++i) variance += (x[r * width + i] - mean) * (x[r * width + i] - mean) / width;
    for (std::size_t i = 0; i < width; ++i) {
      rms[r * width + i] = x[r * width + i] / std::sqrt(square + 0.25) * weight[i];
      layer[r * width + i] = (x[r * width + i] - mean) / std::sqrt(variance + 0.25) * weight[i] + bias[i];
    }
  }
  const Arrays inputs{{"x", array({rows, width}, x)}, {"weight", array({width}, weight)}, {"bias", array({width}, bias)}};
  const auto of = [&](auto normalised) {
    return result_of(inputs, [&](Graph& g) {
      const Dim tokens = g.dim("tokens"), model = g.dim("model");
      const Value in = g.input("x", {tokens, model}), w = g.input("weight", {model}), b = g.input("bias", {model});
      g.output("out", normalised(in, w, b, model), {tokens, model});
    });
  };
  check_elements(of([](Value in, Value w, Value b, Dim model) { return rms_norm(in, w, model, 0.25) + 0 * b; }), {rows, width}, rms, 1e-12);
  check_elements(of([](Value in, Value w, Value b, Dim model) { return layer_norm(in, w, b, model, 0.25); }), {rows, width}, layer, 1e-12);
}

TEST_CASE("activations are those of their formulas", "[activation]") {
  const std::vector<double> x = {-800, -30, -2, -0.5, 0, 0.25, 1, 3, 40, 800};
  const auto check = [&](auto operation, auto formula) {
    std::vector<double> expected;
    for (const double a : x) expected.push_back(formula(a));
    const Array got = result_of({{"x", array({static_cast<std::int64_t>(x.size())}, x)}},
                                [&](Graph& g) { g.output("out", operation(g.input("x", {g.dim("rows")})), {g.dim("rows")}); });
    check_elements(got, {static_cast<std::int64_t>(x.size())}, expected, 1e-12);
  };
  check([](Value a) { return gelu(a); }, [](double a) { return a * std::erfc(-a / std::sqrt(2.0)) / 2; });
  check([](Value a) { return gelu_by_tanh(a); },
        [](double a) { return a / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (a + 0.044715 * a * a * a))); });
  check([](Value a) { return silu(a); }, [](double a) { return a / (1 + std::exp(-a)); });
  check([](Value a) { return softplus(a); }, [](double a) { return a > 100 ? a : std::log1p(std::exp(a)); });
}

TEST_CASE("bits of integers are those of two's complement", "[bits]") {
  const std::vector<double> a = {12, -1, -8, 5}, b = {10, 6, 3, 0};
  const auto check = [&](auto operation, const std::vector<double>& expected) {
    for (const Kind kind : {Kind::i64, Kind::i32}) {
      const Array got = result_of({{"a", array({4}, a)}, {"b", array({4}, b)}}, [&](Graph& g) {
        const Dim rows = g.dim("rows");
        const Value x = g.input("a", {rows}, kind), y = g.input("b", {rows}, kind);
        g.output("out", operation(x, y), {rows});
      });
      check_elements(got, {4}, expected, 0);
    }
  };
  check([](Value x, Value y) { return bit_and(x, y); }, {8, 6, 0, 0});
  check([](Value x, Value y) { return bit_or(x, y); }, {14, -1, -5, 5});
  check([](Value x, Value y) { return bit_xor(x, y); }, {6, -7, -5, 5});
  check([](Value x, Value y) { return shift_left(x, y); }, {12288, -64, -64, 5});
  check([](Value x, Value y) { return shift_right(x, y); }, {0, -1, -1, 5});
}

TEST_CASE("gather along a dim that its numbers have puts the elements in another order", "[gather]") {
  const Array got = result_of({{"x", array({2, 3}, {1, 2, 3, 4, 5, 6})}, {"ids", array({2, 3}, {2, 0, 0, 1, 2, 5})}}, [](Graph& g) {
    const Dim rows = g.dim("rows"), columns = g.dim("columns");
    const Value x = g.input("x", {rows, columns}), ids = g.input("ids", {rows, columns}, Kind::i64);
    g.output("out", gather(x, ids, columns), {rows, columns});
  });
  check_elements(got, {2, 3}, {3, 1, 1, 5, 6, std::numeric_limits<double>::quiet_NaN()}, 0);
}

}  // namespace attune
