#include "schedules/common/opaque_condition.h"

#include <catch2/catch.hpp>

using Halide::Buffer;
using Halide::Expr;

namespace {

/// Sums the elements of an input before `length`, of ten.
struct SumBefore {
  Halide::ImageParam in{Halide::Int(32), 1, "in"};
  Halide::Func sum{"sum"};
  Halide::RDom over{0, 10, "over"};

  SumBefore(int length, Expr (*predicate)(const Expr& condition)) {
    over.where(predicate(over < length));
    sum() = 0;
    sum() += in(over);
  }
  /// How many elements bounds inference finds that it reads.
  int elements_read() {
    sum.infer_input_bounds({});
    return in.get().width();
  }
};

Expr as_it_stands(const Expr& condition) { return condition; }

}  // namespace

TEST_CASE("bounds inference learns nothing from an opaque condition", "[opaque_condition]") {
  CHECK(SumBefore(4, as_it_stands).elements_read() == 4);
  CHECK(SumBefore(4, attune::opaque_condition).elements_read() == 10);
}

TEST_CASE("an opaque condition decides as what it hides does", "[opaque_condition]") {
  for (const int length : {0, 1, 4, 10}) {
    SumBefore sum(length, attune::opaque_condition);
    Buffer<int> numbers(10);
    numbers.for_each_element([&](int i) { numbers(i) = 1 << i; });
    sum.in.set(numbers);
    const Buffer<int> result = sum.sum.realize({});
    CHECK(result() == (1 << length) - 1);
  }
}
