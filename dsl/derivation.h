/// How the extent of a dim follows from the extents of others.
#pragma once

#include <cstdint>

#include "dsl/type.h"

namespace attune {

/// How the extent of a dim follows from the extents of others.
enum class Formula {
  free,      ///< binds to the extent of the inputs that have the dim
  fixed,     ///< `value`
  product,   ///< value * the product of the operands
  quotient,  ///< the operand / value, which must divide it
  sum,       ///< the sum of the operands
  slice,     ///< of the operand's positions those that `value` says, packed Steps
};

/// Every `step`-th position of a dim from `start` on: `count` of them, or all (0).
struct Steps {
  std::int64_t start = 0, step = 1, count = 0;

  static constexpr int bits = 21;
  static constexpr std::int64_t most = (std::int64_t{1} << bits) - 1;  ///< of each, so that one i64 holds all three

  constexpr std::int64_t packed() const { return (start << 2 * bits) | (step << bits) | count; }
  static constexpr Steps of(std::int64_t packed) { return {packed >> 2 * bits, (packed >> bits) & most, packed & most}; }

  /// The least extent that has them.
  constexpr std::int64_t least_extent() const { return count == 0 ? start : start + (count - 1) * step + 1; }
  /// How many there are of an extent that is not too small.
  constexpr std::int64_t taken_of(std::int64_t extent) const { return count == 0 ? (extent - start + step - 1) / step : count; }
};

/// `dim` = `formula` of `operands`.
struct Derivation {
  Name dim;
  Formula formula = Formula::free;
  Names operands;
  std::int64_t value = 1;
  constexpr bool operator==(const Derivation&) const = default;
};

/// keys[4:8:2], the positions from 4 to before 8.
constexpr Text written(const Steps& steps, const auto& operand) {
  Text text = sentence(operand, "[", steps.start, ":");
  if (steps.count > 0) text << steps.least_extent();
  if (steps.step > 1) text << ":" << steps.step;
  return text << "]";
}

}  // namespace attune
