/// What conversions of PTX make of bits, for the table in rules.cpp.
#pragma once

#include <cmath>
#include <limits>

#include "tests/ptx/arithmetic.h"

namespace attune::ptx::arithmetic {

template <class To, class From>
std::uint64_t converted(const std::uint64_t* x) {
  return bits_of(static_cast<To>(as<From>(x[0])));
}
/// Towards zero; what is too large is the nearest there is, NaN is 0, or the least of 64 bits.
template <class To>
std::uint64_t truncated(const std::uint64_t* x) {
  const auto value = static_cast<double>(as<float>(x[0]));
  constexpr To first = std::numeric_limits<To>::min(), last = std::numeric_limits<To>::max();
  if (std::isnan(value)) return bits_of(sizeof(To) == 8 ? first : To{0});
  if (value >= static_cast<double>(last)) return bits_of(last);
  return bits_of(static_cast<To>(std::trunc(std::fmax(value, static_cast<double>(first)))));
}

/// A real as 16 bits, rounded to nearest, ties to even; and two of them, the first in the high half.
template <class Narrow>
std::uint64_t narrowed(const std::uint64_t* x) {
  return Narrow(as<float>(x[0])).bits;
}
template <class Narrow>
std::uint64_t narrowed_pair(const std::uint64_t* x) {
  return std::uint64_t{Narrow(as<float>(x[0])).bits} << 16 | Narrow(as<float>(x[1])).bits;
}
template <class Narrow>
std::uint64_t widened(const std::uint64_t* x) {
  Narrow narrow;
  narrow.bits = as<std::uint16_t>(x[0]);
  return bits_of(static_cast<float>(narrow));
}

}  // namespace attune::ptx::arithmetic
