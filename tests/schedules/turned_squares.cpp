#include "schedules/common/turned_squares.h"

#include <catch2/catch.hpp>

#include <string>

#include "tests/folder.h"

namespace attune {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::Var;

/// The matrices of `in`, turned in squares of `edge`.
Func turned(const ImageParam& in, int edge) {
  const Var column, row, matrix, squares_along, along, squares, in_square;
  const TurnedSquares turning(edge, column, row, {column, row, matrix}, in(column, row, matrix));
  Func out;
  out(row, column, matrix) = turning.element();
  out.bound(row, 0, 2 * edge).bound(column, 0, 3 * edge);
  out.split(row, squares_along, along, edge).split(column, squares, in_square, edge);
  out.reorder(along, in_square, squares, squares_along).vectorize(along).unroll(in_square);
  turning.schedule(out, squares);
  return out;
}

}  // namespace

TEST_CASE("squares of any edge are turned, wherever they lie", "[turned_squares]") {
  const int edge = GENERATE(1, 2, 4, 8, 16);
  CAPTURE(edge);
  ImageParam in(Halide::Float(32), 3);
  Halide::Buffer<float> matrices(3 * edge, 2 * edge, 2);
  matrices.for_each_element([&](int column, int row, int matrix) { matrices(column, row, matrix) = static_cast<float>((matrix * 100 + row) * 100 + column); });
  in.set(matrices);
  const Halide::Buffer<float> out = turned(in, edge).realize({2 * edge, 3 * edge, 2});
  int wrong = 0;
  out.for_each_element([&](int row, int column, int matrix) { wrong += out(row, column, matrix) != matrices(column, row, matrix); });
  CHECK(wrong == 0);
}

TEST_CASE("turning a square takes log2 of its edge permutations for a vector", "[turned_squares]") {
  const ImageParam in(Halide::Float(32), 3, "in");
  const Folder folder;
  turned(in, 16).compile_to_assembly(folder / "f.s", {in}, Halide::Target("x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41-no_asserts-no_runtime"));
  const std::string text = contents(folder / "f.s");
  const auto count = [&](const std::string& instruction) {
    int found = 0;
    for (std::size_t at = text.find(instruction); at != std::string::npos; at = text.find(instruction, at + 1)) ++found;
    return found;
  };
  CHECK(count("vperm") + count("vunpck") + count("vshuf") == 16 * 4);
  CHECK(count("vblend") + count("vinsert") == 0);
}

}  // namespace attune
