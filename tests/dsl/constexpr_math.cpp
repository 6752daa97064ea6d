/// Functions of doubles while a program is compiled, and the angles of positions.
#include "dsl/constexpr_math.h"

#include <algorithm>
#include <numbers>
#include <random>

#include "dsl/graph.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

static_assert(constexpr_sqrt(4) == 2 && constexpr_pow(2, -3) == 0.125 && constexpr_log(1) == 0 && constexpr_exp(0) == 1);

double ulps(double got, double exact) {
  if (got == exact || (std::isnan(got) && std::isnan(exact))) return 0;
  return std::abs(got - exact) / (std::nextafter(std::abs(exact), infinity) - std::abs(exact));
}

}  // namespace

TEST_CASE("constexpr_exp and its like are right to an ulp of a double", "[constexpr_math]") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> wide(-745, 709), exponent(-1000, 1000), near(0.5, 2), power(-30, 30);
  double worst = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const double x = wide(random), large = std::exp2(exponent(random)), a = near(random), b = power(random);
    for (const double error : {ulps(constexpr_exp(x), std::exp(x)), ulps(constexpr_log(large), std::log(large)), ulps(constexpr_log(a), std::log(a)),
                               ulps(constexpr_sqrt(large), std::sqrt(large)), ulps(constexpr_pow(a * 10, b), std::pow(a * 10, b))})
      worst = std::max(worst, error);
  }
  CHECK(worst <= 1);
}

TEST_CASE("constexpr_exp and its like have the special values of C", "[constexpr_math]") {
  const double special[] = {0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1e300, -1e300, 5e-324, infinity, -infinity, quiet_nan};
  for (const double x : special) {
    INFO(x);
    CHECK(ulps(constexpr_exp(x), std::exp(x)) <= 1);
    CHECK(ulps(constexpr_log(x), std::log(x)) <= 1);
    CHECK(ulps(constexpr_sqrt(x), std::sqrt(x)) <= 1);
    for (const double y : special) {
      INFO(y);
      // but for the sign of zeros, and of what is 1 / 0
      if (x == 0) CHECK(ulps(constexpr_pow(x, y), std::abs(std::pow(x, y))) <= 1);
      else CHECK(ulps(std::abs(constexpr_pow(x, y)), std::abs(std::pow(x, y))) <= 1);
    }
  }
  CHECK(constexpr_pow(-2, 3) == -8);
  CHECK(constexpr_pow(-infinity, 3) == -infinity);
}

TEST_CASE("a rotary angle is position * step, modulo a turn", "[rotary_angle]") {
  constexpr double pi = std::numbers::pi;
  CHECK(turn_units(pi) == std::int64_t{1} << 43);
  CHECK(turn_units(-pi / 2) == 3 * (std::int64_t{1} << 42));
  CHECK(turn_units(2 * pi) == 0);
  const Array got = result_of({{"positions", array({5}, {0, 1, 3, -1, 1000001})}}, [](Graph& g) {
    const Dim rows = g.dim("rows");
    g.output("out", rotary_angle(g.input("positions", {rows}, Kind::i32), std::numbers::pi / 2), {rows});
  });
  check_elements(got, {5}, {0, pi / 2, -pi / 2, -pi / 2, pi / 2}, 3e-8);
}

}  // namespace attune
