#include "tests/schedules/product_case.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace attune {

Term element(const std::shared_ptr<OperandTensor>& operand) {
  return [operand](const Index& index) { return static_cast<double>(operand->at(index)); };
}

void check_stored(ProductCase& product, const Stored& stored, const std::vector<Sizes>& all, int step) {
  product.stage.compile(stored);
  unsigned seed = 7;
  for (const Sizes& sizes : all) {
    product.stage.run(sizes, seed += 10, product.change);
    CAPTURE(sizes, seed);
    double magnitude = 0;
    int terms = 0;
    const auto expected = [&](const Index& at) {
      double sum = 0;
      magnitude = terms = 0;
      product.stage.each(product.body.over, at, [&](const Index& index) {
        const double term = product.a(index) * product.b(index);
        sum += term;
        magnitude += std::abs(term);
        ++terms;
      });
      const double value = product.finish(sum, at);
      magnitude = std::max(magnitude, std::abs(value));
      return value;
    };
    CHECK(product.stage.difference(expected, [&](const Index&) { return (terms + 2) * std::ldexp(magnitude, -24); }, step) == "");
    CHECK(product.stage.stray_writes() == 0);
  }
}

void check(ProductCase& product, const std::vector<Sizes>& all, const Machine& machine, int step) {
  for (const SizeClass size : {SizeClass::large, SizeClass::small}) {
    CAPTURE(size == SizeClass::large);
    check_stored(product, gemm(product.body, product.stage.extents(), machine, gemm_parameters(machine, size)), all, step);
  }
}

}  // namespace attune
