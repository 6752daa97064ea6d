/// The extent of a dim that follows from others.
#pragma once

#include "dsl/op.h"

namespace attune {

/// What a derivation gives. The problem is of an operand: "tokens is 37; it must be a multiple of 64", "keys is 3; it must be at least 7".
struct FollowedExtent {
  std::int64_t extent = 0;
  Text problem;
  Name too_short{};           ///< the operand that the problem is about
  bool is_too_large = false;  ///< more than 63 bits count
};

/// `extent_of(Name)` gives the extent of each operand; the formula is not `free`.
template <class ExtentOf>
constexpr FollowedExtent follow(const Derivation& d, ExtentOf extent_of) {
  FollowedExtent followed{d.formula == Formula::sum ? 0 : d.value, {}};
  for (Name operand : d.operands) {
    const std::int64_t extent = extent_of(operand);
    const auto fail = [&](const auto&... what) { return FollowedExtent{0, sentence(operand, " is ", extent, "; it must be ", what...), operand}; };
    if (d.formula == Formula::slice) {
      const Steps steps = Steps::of(d.value);
      if (extent < steps.least_extent()) return fail("at least ", steps.least_extent());
      followed.extent = steps.taken_of(extent);
    } else if (d.formula == Formula::quotient) {
      if (extent % d.value != 0) return fail("a multiple of ", d.value);
      followed.extent = extent / d.value;
    } else {
      const bool is_sum = d.formula == Formula::sum;
      followed.is_too_large |= is_sum ? __builtin_add_overflow(followed.extent, extent, &followed.extent)
                                      : __builtin_mul_overflow(followed.extent, extent, &followed.extent);
    }
  }
  return followed;
}

}  // namespace attune
