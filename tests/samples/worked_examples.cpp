// Worked examples of courses as compiled kernels, with the numbers that they print; tests/dsl has them in the interpreter.
#include <catch2/catch.hpp>
#include <cmath>

#include "worked_residual.hpp"
#include "worked_single_head.hpp"

namespace {

using Values = std::vector<float>;
using attune::Tensor;

struct Example {
  std::int64_t tokens, model;
  Values x, wq, wk, wv;  ///< the weights as courses write them, (in x out)
  Values weights, out;   ///< as printed; empty if they are not
};

const Example two_words = {.tokens = 2,
                           .model = 3,
                           .x = {1, 0, 0, 0, 2, 2},
                           .wq = {1, 0, 1, 0, 0, 1},
                           .wk = {0, 1, 1, 0, 1, 0},
                           .wv = {2, 0, 3, 0, 0, 3},
                           .weights = {0.0180f, 0.9820f, 0.0025f, 0.9975f},
                           .out = {5.928f, 5.892f, 5.990f, 5.985f}};
const Example three_words = {.tokens = 3,
                             .model = 4,
                             .x = {1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1},
                             .wq = {1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1},
                             .wk = {0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0},
                             .wv = {0, 2, 0, 0, 3, 0, 1, 0, 3, 1, 1, 0},
                             .weights = {},
                             .out = {1.9366f, 6.6831f, 1.5951f, 2.0000f, 7.9640f, 0.0540f, 1.9997f, 7.7599f, 0.3584f}};

/// The memory (out, in) that kernels take.
Values transposed(const Values& weight, std::int64_t in) {
  Values result(weight.size());
  const std::size_t rows = static_cast<std::size_t>(in), columns = weight.size() / rows;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = weight[i * columns + j];
  return result;
}

/// As near as numbers printed with so many decimal places are: half of the last one, and a rounding of the kernel.
void check(const Values& got, const Values& expected, int places) {
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(got[i] - expected[i]) <= 0.5 * std::pow(10, -places) + 1e-5);
}

struct Result {
  Values weights, out;
};

Result single_head(const Example& e) {
  const Values wq = transposed(e.wq, e.model), wk = transposed(e.wk, e.model), wv = transposed(e.wv, e.model);
  const auto width = static_cast<std::int64_t>(wv.size()) / e.model, depth = static_cast<std::int64_t>(wq.size()) / e.model;
  Result result{Values(static_cast<std::size_t>(e.tokens * e.tokens)), Values(static_cast<std::size_t>(e.tokens * width))};
  const auto kernel = attune::Kernel::from(attune_kernel_v5_worked_single_head);
  REQUIRE(kernel);
  const auto done = (*kernel)({{"x", Tensor(e.x, {e.tokens, e.model})},
                               {"wq", Tensor(wq, {depth, e.model})},
                               {"wk", Tensor(wk, {depth, e.model})},
                               {"wv", Tensor(wv, {width, e.model})},
                               {"out", Tensor(result.out, {e.tokens, width})},
                               {"weights", Tensor(result.weights, {e.tokens, e.tokens})}});
  REQUIRE(done);
  return result;
}

}  // namespace

TEST_CASE("the kernel gives the published numbers of two words of width 3", "[worked]") {
  const Result result = single_head(two_words);
  check(result.weights, two_words.weights, 4);
  check(result.out, two_words.out, 3);
}

TEST_CASE("the kernel gives the published numbers of three words of width 4", "[worked]") {
  check(single_head(three_words).out, three_words.out, 4);
}

TEST_CASE("the kernel takes any attention width", "[worked]") {
  Example wide = two_words;  // the same columns and zeros beside them: the same scores, the result with zeros
  for (Values* weight : {&wide.wq, &wide.wk, &wide.wv}) {
    Values columns(3 * 8);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 2; ++j) columns[i * 8 + j] = (*weight)[i * 2 + j];
    *weight = columns;
  }
  const Result result = single_head(wide);
  check(result.weights, two_words.weights, 4);
  CHECK(result.out.size() == 2 * 8);
  check({result.out[0], result.out[1], result.out[8], result.out[9]}, two_words.out, 3);
  CHECK(result.out[2] == 0);
}

TEST_CASE("the kernel of the residual form adds the result to the token", "[worked]") {
  Example square = two_words;
  square.wv = {2, 0, 0, 3, 0, 0, 0, 3, 0};  // a third column of zeros: the value's width is the token's
  const Values alone = single_head(square).out;
  const Values wq = transposed(square.wq, 3), wk = transposed(square.wk, 3), wv = transposed(square.wv, 3);
  Values out(2 * 3);
  const auto done = attune::kernels::worked_residual(Tensor(square.x, {2, 3}), Tensor(wq, {2, 3}), Tensor(wk, {2, 3}), Tensor(wv, {3, 3}),
                                                     Tensor(out, {2, 3}));
  REQUIRE(done);
  Values expected = alone;
  for (std::size_t i = 0; i < out.size(); ++i) expected[i] += square.x[i];
  check(out, expected, 5);
  CHECK(std::abs(out[0] - 6.928f) <= 0.00051f);
}
