/// The frequencies of rotary embedding, made of their base.
#pragma once

#include "dsl/constexpr_math.h"
#include "dsl/ops/bits.h"
#include "dsl/ops/compare.h"
#include "dsl/ops/index.h"
#include "dsl/ops/logic.h"
#include "dsl/ops/rotary_angle.h"

namespace attune {

struct RotarySteps {
  double base = 10000;
  std::int64_t width = 64;

  static constexpr std::int64_t most_width = 1 << 12;
  static constexpr std::string_view name = "rotary_steps",
                                    meaning = "base^(-2 i / width) radians in units of 2^-44 of a turn, which rotary_angle takes for steps; i is a pair's number "
                                              "from 0 to width / 2 - 1, `width` the number of elements that are turned. Off by 4e-12 radians at most";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"base", &RotarySteps::base}, Field{"width", &RotarySteps::width}};

  /// Refuses a number that is no i64, a base below 1, and a width that is odd or not from 2 to 4096.
  constexpr Text check(std::span<const Type> in) const {
    if (in[0].kind != Kind::i64) return sentence("the number of a pair is ", in[0].kind, "; it must be i64, as index gives it");
    if (!(base >= 1)) return sentence("base is ", base, "; it must be at least 1");
    if (width < 2 || width % 2 != 0 || width > most_width) return sentence("width is ", width, "; it must be even, from 2 to ", most_width);
    return {};
  }
  /// The product of base^(-2 * 2^b / width) over the bits b that i has, each in units of 2^-44. Factors are taken apart at bit 22: no integer is
  /// beyond 2^53, up to which the interpreter is exact, too. A product is rounded down twice: five of them are off by 10 units.
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const auto whole = [&](std::int64_t x) { return literal(in[0].graph, static_cast<double>(x), Kind::i64, at); };
    const auto times = [&](Value x, std::int64_t y) { return call(Multiply{}, {x, whole(y)}, at); };
    Value step = whole(turn_units(1));
    for (std::int64_t bit = 1; bit < width / 2; bit *= 2) {
      const double power = -2.0 * static_cast<double>(bit) / static_cast<double>(width);
      const auto factor = static_cast<std::int64_t>(constexpr_pow(base, power) * 0x1p44 + 0.5);
      const Value upper = call(ShiftRight{}, {step, whole(22)}, at), lower = call(BitAnd{}, {step, whole(mask)}, at);
      const Value middle = call(Add{}, {times(upper, factor & mask), times(lower, factor >> 22)}, at);
      const Value product = call(Add{}, {times(upper, factor >> 22), call(ShiftRight{}, {middle, whole(22)}, at)}, at);
      const Value has_bit = call(NotEqual{}, {call(BitAnd{}, {in[0], whole(bit)}, at), whole(0)}, at);
      step = call(Select{}, {has_bit, product, step}, at);
    }
    return call(Add{}, {step, times(in[0], 0)}, at);  // of one pair, too, the result has the dims of i
  }
  static constexpr std::int64_t mask = (std::int64_t{1} << 22) - 1;
};

/// rotary_steps(index(pairs), 10000, 64): [pairs]
constexpr Value rotary_steps(Value pair, double base, std::int64_t width, Here at = Here::current()) {
  return call(RotarySteps{base, width}, {pair}, at);
}

}  // namespace attune
