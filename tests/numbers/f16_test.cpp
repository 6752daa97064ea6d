#include "codegen/halide/numbers/f16.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace attune {
namespace {

using Halide::Var;

std::vector<std::uint16_t> bits_of(const std::vector<float>& values) {
  Halide::Buffer<float> in(const_cast<float*>(values.data()), static_cast<int>(values.size()));
  const Var x("x");
  Halide::Func f;
  f(x) = f16_bits(in(x));
  const Halide::Buffer<std::uint16_t> out = f.realize({in.width()});
  return {out.begin(), out.end()};
}

}  // namespace

TEST_CASE("each f16 is the f32 of its number, and its bits again", "[f16]") {
  constexpr int all = 1 << 16;
  const Var x("x");
  Halide::Func f;
  f(x) = f16_value(Halide::cast<std::uint16_t>(x));
  const Halide::Buffer<float> out = f.realize({all});
  const std::vector<float> values(out.begin(), out.end());
  const std::vector<std::uint16_t> again = bits_of(values);
  int wrong = 0;
  for (int i = 0; i < all; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const auto at = static_cast<std::size_t>(i);
    const int exponent = bits >> 10 & 0x1f, digits = bits & 0x3ff;
    const double magnitude = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
    const double exact = exponent < 31 ? magnitude : digits == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    const bool is_nan = std::isnan(exact), is_negative = (bits & 0x8000) != 0;
    if (is_nan ? !std::isnan(values[at]) : values[at] != (is_negative ? -exact : exact) || std::signbit(values[at]) != is_negative) ++wrong;
    if (is_nan ? (again[at] & 0x7fff) <= 0x7c00 : again[at] != bits) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("an f32 becomes the nearest f16, ties to even", "[f16]") {
  std::vector<float> values;
  // What lies halfway between two neighbours, and the next numbers on both sides.
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto value = [](std::uint32_t b) {
      return b >> 10 == 0 ? std::ldexp(static_cast<float>(b), -24)
                          : std::ldexp(static_cast<float>(1024 + (b & 0x3ff)), static_cast<int>(b >> 10) - 25);
    };
    const float half_way = (value(bits) + (bits + 1 < 0x7c00 ? value(bits + 1) : 65536.f)) / 2;
    for (const float x : {half_way, std::nextafter(half_way, 0.f), std::nextafter(half_way, 1e9f)}) values.push_back(bits % 2 == 0 ? x : -x);
  }
  const std::vector<std::uint16_t> got = bits_of(values);
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto below = static_cast<std::uint16_t>(i / 3);
    const auto nearest = static_cast<std::uint16_t>(i % 3 == 1 ? below : i % 3 == 2 ? below + 1 : below + below % 2);
    if (got[i] != static_cast<std::uint16_t>(nearest | (below % 2 == 0 ? 0 : 0x8000))) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(bits_of({1e5f, -3e38f, std::numeric_limits<float>::infinity(), 1e-8f, -1e-30f, std::numeric_limits<float>::denorm_min()}) ==
        std::vector<std::uint16_t>{0x7c00, 0xfc00, 0x7c00, 0, 0x8000, 0});
}

}  // namespace attune
