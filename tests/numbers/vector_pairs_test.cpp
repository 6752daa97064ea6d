#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "codegen/halide/numbers/vector_math.h"
#include "tests/numbers/vector_trial.h"

namespace v = attune::vector_math;
using namespace attune::vector_trial;
using Halide::Expr;
using Halide::Target;

TEST_CASE("pow is right to 6 ulp, and has the special values of C", "[vector_math]") {
  std::vector<float> a, b;
  const std::vector<float> special = {0,     -0.f,  1,    -1,   2,        -2,        3,         -3,      0.5f,      -0.5f,    2.5f,
                                      -2.5f, 1e10f, -1e10f, 1e38f, 1e-38f, 1e-45f, infinity, -infinity, nans[0], nans[3], 16777216.f, 8388609.f};
  for (float x : special)
    for (float y : special) a.push_back(x), b.push_back(y);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> exponent(-126, 127), near(0.5f, 2.f), power(-126, 127), result(-130, 128);
  for (int i = 0; i < 1 << 18; ++i) {
    const float x = i % 2 == 0 ? near(random) : std::exp2(exponent(random));
    a.push_back(x), b.push_back(i % 3 == 0 ? std::round(power(random) / 8) : result(random) / std::log2(x));
  }
  Halide::Buffer<float> exponents(b.data(), static_cast<int>(b.size())), bases(a.data(), static_cast<int>(a.size()));
  Halide::Var i;
  for (const Target& target : targets()) {
    std::vector<float> got(a.size());
    Halide::Buffer<float> to(got.data(), static_cast<int>(got.size()));
    vectorised(v::pow(bases(i), exponents(i)), i).realize(to, target);
    double worst = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double exact = std::pow(static_cast<double>(a[k]), static_cast<double>(b[k])), error = ulps(got[k], exact, false);
      const bool is_zero = exact == 0 || std::abs(exact) < 0x1p-150;
      INFO(target.to_string() << ": " << a[k] << " to the power of " << b[k] << ": got " << got[k] << ", expected " << exact);
      if (k < special.size() * special.size() && !(error <= 6)) CHECK(is_same(got[k], static_cast<float>(exact)));
      if (!is_zero && std::abs(exact) < 0x1p128 && error > worst) worst = error;
    }
    INFO(target.to_string() << ": " << worst << " ulp");
    CHECK(worst <= 6);
  }
}

TEST_CASE("minimum and maximum give NaN if either operand is NaN", "[vector_math]") {
  std::vector<float> a, b;
  const std::vector<float> values = {-infinity, -2.f, 1.f, infinity, nans[0], nans[2], nans[3]};
  for (float x : values)
    for (float y : values) a.push_back(x), b.push_back(y);
  Halide::Buffer<float> other(b.data(), static_cast<int>(b.size()));
  Halide::Var unused;
  for (const Target& target : targets())
    for (bool from_arithmetic : {false, true}) {
      std::vector<float> least(a.size()), greatest(a.size()), zeros(a.size());
      const int size = static_cast<int>(a.size());
      Halide::Buffer<float> x(a.data(), size), y(b.data(), size), zero(zeros.data(), size), low(least.data(), size),
          high(greatest.data(), size);
      Halide::Var i;
      const Expr left = from_arithmetic ? x(i) + zero(i) : Expr(x(i)), right = y(i);
      vectorised(v::minimum(left, right), i).realize(low, target);
      vectorised(v::maximum(left, right), i).realize(high, target);
      for (std::size_t k = 0; k < a.size(); ++k) {
        const bool is_nan = std::isnan(a[k]) || std::isnan(b[k]);
        INFO(target.to_string() << ": " << a[k] << ", " << b[k] << ": got " << least[k] << " and " << greatest[k]);
        CHECK(is_same(least[k], is_nan ? quiet_nan : std::min(a[k], b[k])));
        CHECK(is_same(greatest[k], is_nan ? quiet_nan : std::max(a[k], b[k])));
      }
    }
}
