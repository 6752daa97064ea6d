#include "schedules/common/online_state.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

using namespace attune;
using Halide::Buffer;
using Halide::Expr;
using Halide::Func;

namespace {

/// A key's score in base 2 and its value.
using Keys = std::vector<std::pair<float, float>>;

struct Numbers {
  float sum, reference, total;
  bool operator==(const Numbers&) const = default;
};

Numbers numbers(const OnlineState& state) {
  Func f;
  f() = state.tuple();
  const Halide::Realization r = f.realize();
  return {Buffer<float>(r[0])(), Buffer<float>(r[1])(), Buffer<float>(r[2])()};
}

/// An expression of a number that the compiler does not know.
Expr unknown(float number) {
  Func f;
  f() = number;
  f.compute_root();
  return f();
}

OnlineState state_of(const Numbers& n) { return {unknown(n.sum), unknown(n.reference), unknown(n.total)}; }

/// By the formulas of the state's members, in double. Powers of whole numbers and few keys leave nothing to round.
Numbers expected(const Keys& keys) {
  double largest = std::numeric_limits<float>::lowest(), sum = 0, total = 0;
  for (const auto& [score, value] : keys) largest = std::max(largest, double(score));
  for (const auto& [score, value] : keys) {
    sum += std::exp2(score - largest) * value;
    total += std::exp2(score - largest);
  }
  return {static_cast<float>(sum), static_cast<float>(largest), static_cast<float>(total)};
}

Keys both(Keys a, const Keys& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Keys few = {{3.f, 1.5f}, {-2.f, 4.f}}, larger = {{7.f, -2.f}, {5.f, 1.f}, {1.f, 8.f}}, none = {};

}  // namespace

TEST_CASE("states of some keys merge to the state of all, whichever comes first", "[online_state]") {
  for (const auto& [a, b] : {std::pair{few, larger}, {larger, few}, {few, few}}) {
    const Numbers merge = numbers(merged(state_of(expected(a)), state_of(expected(b))));
    CHECK(merge.sum == expected(both(a, b)).sum);
    CHECK(merge.reference == expected(both(a, b)).reference);
    CHECK(merge.total == expected(both(a, b)).total);
  }
}

TEST_CASE("the state of no key changes none", "[online_state]") {
  CHECK(numbers(OnlineState::of_no_key()) == expected(none));
  CHECK(numbers(merged(OnlineState::of_no_key(), state_of(expected(few)))) == expected(few));
  CHECK(numbers(merged(state_of(expected(few)), OnlineState::of_no_key())) == expected(few));
  CHECK(numbers(merged(OnlineState::of_no_key(), OnlineState::of_no_key())) == expected(none));
}

TEST_CASE("a state scaled under a reference is its share of a merge", "[online_state]") {
  const Numbers state = expected(few), under = expected(larger);
  Func f;
  f() = state_of(state).scale_under(unknown(under.reference));
  const Buffer<float> scale = f.realize();
  CHECK(scale() == std::exp2(state.reference - under.reference));
}

TEST_CASE("powers of two with whole exponents are exact, and 0 where a weight would be", "[online_state]") {
  const auto power = [](float n) {
    Func f;
    f() = whole_power(unknown(n));
    const Buffer<float> result = f.realize();
    return result();
  };
  for (const float n : {0.f, -1.f, -24.f, -100.f}) CHECK(power(n) == std::exp2(n));
  for (const float n : {-101.f, -126.f, -127.f, -1000.f, std::numeric_limits<float>::lowest(), -std::numeric_limits<float>::infinity()})
    CHECK(power(n) == 0.f);
}
