/// Matrices of a mask, and the rule of positions that is found of them.
#include <catch2/catch.hpp>

#include "tests/dsl/values.h"
#include "tests/random_values.h"
#include "tools/onnx/position_mask.h"

namespace attune {
namespace {

using Shows = bool (*)(std::int64_t i, std::int64_t j);

std::vector<double> matrix(std::int64_t rows, std::int64_t columns, Shows shows) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) numbers.push_back(shows(i, j) ? 3 : -7);
  return numbers;
}

/// What the found rule says in a graph, on a matrix of another size: the rule is of positions, not of the matrix.
void check_found(std::int64_t rows, std::int64_t columns, Shows shows) {
  const std::optional<PositionMask> mask = position_mask(matrix(rows, columns, shows), rows, columns, 3, -7);
  REQUIRE(mask);
  const std::int64_t more_rows = rows + 13, more_columns = columns + 13;
  const Arrays inputs = {{"x", array({more_rows, more_columns}, std::vector<double>(static_cast<std::size_t>(more_rows * more_columns), -7))}};
  const Array found = result_of(inputs, [&](Graph& g) {
    const Dim i = g.dim("i"), j = g.dim("j");
    g.output("out", select(value_of_mask(*mask, i, j), 3, g.input("x", {i, j})), {i, j});
  });
  CHECK(found.data == matrix(more_rows, more_columns, shows));
}

}  // namespace

TEST_CASE("the rule of a mask is found, and holds for longer sequences", "[onnx]") {
  check_found(9, 9, [](auto i, auto j) { return j <= i; });
  check_found(9, 9, [](auto i, auto j) { return j > i; });
  check_found(7, 12, [](auto i, auto j) { return j <= i + 5; });
  check_found(12, 7, [](auto i, auto j) { return j <= i - 5; });
  check_found(9, 9, [](auto i, auto j) { return j <= i && j > i - 3; });
  check_found(9, 9, [](auto i, auto j) { return j <= i + 2 && j >= i - 3; });
  check_found(13, 13, [](auto i, auto j) { return j <= i && i - j <= 6 && (i - j) % 3 == 0; });
  check_found(9, 9, [](auto, auto j) { return j < 5; });
  check_found(9, 9, [](auto, auto j) { return j >= 4; });
  check_found(9, 9, [](auto i, auto j) { return j <= i || j < 4; });
  check_found(13, 13, [](auto i, auto j) { return j <= i && (j > i - 4 || j < 2); });
  check_found(13, 13, [](auto i, auto j) { return i < 2 || j < 2 || (j <= i + 2 && j >= i - 2); });
  check_found(13, 13, [](auto i, auto j) { return i / 4 == j / 4; });
  check_found(13, 13, [](auto i, auto j) { return i / 4 == j / 4 && j <= i; });
  check_found(13, 13, [](auto i, auto j) { return j / 4 <= i / 4; });
  check_found(13, 13, [](auto i, auto j) { return j / 4 <= i / 4 && i / 4 - j / 4 <= 1; });
}

TEST_CASE("a matrix that follows no rule has none, and one of three numbers neither", "[onnx]") {
  std::vector<double> numbers = matrix(9, 9, [](auto i, auto j) { return j <= i; });
  numbers[5 * 9 + 2] = -7;
  CHECK_FALSE(position_mask(numbers, 9, 9, 3, -7));
  CHECK_FALSE(position_mask(numbers, 9, 9, -7, 3));
  numbers[5 * 9 + 2] = 1;
  CHECK_FALSE(position_mask(numbers, 9, 9, 3, -7));
}

}  // namespace attune
