/// Reals rounded to whole numbers, in words that are made of floor.
#pragma once

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/compare.h"
#include "dsl/ops/functions.h"
#include "dsl/ops/logic.h"

namespace attune {

/// The smallest whole number not below a.
constexpr Value ceil(Value a, Here at = Here::current()) { return call(Negate{}, {floor(call(Negate{}, {a}, at), at)}, at); }

/// The whole number that is nearest to a, of two the even one: 0.5 gives 0, 1.5 and 2.5 give 2. The distance from the floor is exact but between -1
/// and 0, where a rounding gives a tie that goes to 0, as what is nearer to 0 does.
constexpr Value round(Value a, Here at = Here::current()) {
  const auto real = [&](double x) { return literal(a.graph, x, Kind::real, at); };
  const Value low = floor(a, at), half = call(Multiply{}, {low, real(0.5)}, at), distance = call(Subtract{}, {a, low}, at);
  const Value is_odd = call(NotEqual{}, {half, floor(half, at)}, at), is_tie = call(Equal{}, {distance, real(0.5)}, at);
  const Value goes_up = call(Or{}, {call(Greater{}, {distance, real(0.5)}, at), call(And{}, {is_tie, is_odd}, at)}, at);
  return call(Select{}, {goes_up, call(Add{}, {low, real(1)}, at), low}, at);
}

}  // namespace attune
