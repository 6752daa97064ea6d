#include "schedules/pointwise/reduced_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include <string>

namespace attune {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::RDom;
using Halide::Var;

/// The element is made of sums of rows.
bool has_rows(const Expr& element, const std::string& innermost = "row") { return !ReducedRows(element, innermost, 8).empty(); }

}  // namespace

TEST_CASE("a sum whose terms are neighbours is one of a row", "[reduced_rows]") {
  const ImageParam x(Halide::Float(32), 2), w(Halide::Float(32), 1), whole(Halide::Int(32), 2);
  const Var row("row");
  const RDom k(0, x.dim(0).extent()), few(0, 5), both({{0, 9}, {0, x.dim(0).extent()}});
  CHECK(has_rows(Halide::sum(x(k, row) * x(k, row))));
  CHECK(has_rows(Halide::sum(x(k, row) * w(k)) / 3 + Halide::sum(x(k, row + 1))));
  CHECK(has_rows(Halide::sum(x(both.y, row * 9 + both.x))));
  CHECK(has_rows(Halide::sum(abs(x(k, row) - Halide::sum(x(k, row))))));
  CHECK(has_rows(Halide::maximum(whole(k, row)) + Halide::cast<int>(Halide::sum(x(k, row)))));
  CHECK_FALSE(has_rows(Halide::maximum(whole(row, k))));
  CHECK_FALSE(has_rows(Halide::minimum(whole(k, row))));
  CHECK_FALSE(has_rows(x(0, row)));
  CHECK_FALSE(has_rows(Halide::sum(x(row, k))));
  CHECK_FALSE(has_rows(Halide::sum(x(row, k) * x(k, row))));
  CHECK_FALSE(has_rows(Halide::sum(w(k) * x(row, 0)), "row"));
  CHECK_FALSE(has_rows(Halide::sum(x(few, row))));
  CHECK_FALSE(has_rows(Halide::sum(x(k, row)) + Halide::maximum(x(k, row))));
  CHECK_FALSE(has_rows(Halide::cast<float>(Halide::sum(whole(k, row)))));
}

TEST_CASE("sums of rows have all terms, of whole vectors and what is left", "[reduced_rows]") {
  for (const int columns : {1, 7, 8, 9, 37}) {
    CAPTURE(columns);
    ImageParam x(Halide::Float(32), 2);
    const Var row("row");
    const RDom k(0, x.dim(0).extent());
    const Expr mean = Halide::sum(x(k, row)) / 4;
    const ReducedRows rows(Halide::sum((x(k, row) - mean) * 2) + 1, "row", 8);
    REQUIRE_FALSE(rows.empty());
    Func out;
    out(row) = rows.element();
    rows.schedule({out, row});
    Halide::Buffer<float> numbers(columns, 3);
    numbers.for_each_element([&](int column, int of) { numbers(column, of) = static_cast<float>(column * of + 1); });
    x.set(numbers);
    const Halide::Buffer<float> result = out.realize({3});
    for (int of = 0; of < 3; ++of) {
      const float total = static_cast<float>(of * columns * (columns - 1) / 2 + columns);
      CHECK(result(of) == 2 * (total - static_cast<float>(columns) * total / 4) + 1);
    }
  }
}

TEST_CASE("maxima of rows are of whole vectors and what is left", "[reduced_rows]") {
  for (const int columns : {1, 7, 8, 9, 37}) {
    CAPTURE(columns);
    ImageParam x(Halide::Int(32), 2);
    const Var row("row");
    const RDom k(0, x.dim(0).extent());
    const ReducedRows rows(Halide::maximum(x(k, row)), "row", 8);
    REQUIRE_FALSE(rows.empty());
    Func out;
    out(row) = rows.element();
    rows.schedule({out, row});
    Halide::Buffer<int> numbers(columns, 3);
    numbers.for_each_element([&](int column, int of) { numbers(column, of) = -1000 + (column * 7 + of) % 11; });
    x.set(numbers);
    const Halide::Buffer<int> result = out.realize({3});
    for (int of = 0; of < 3; ++of) {
      int greatest = std::numeric_limits<int>::min();
      for (int column = 0; column < columns; ++column) greatest = std::max(greatest, numbers(column, of));
      CHECK(result(of) == greatest);
    }
  }
}

}  // namespace attune
