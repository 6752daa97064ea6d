/// Angles that are right at any position: products of positions and steps, modulo a turn, in integers.
#pragma once

#include <numbers>

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/convert.h"

namespace attune {

/// An angle in radians in units of 2^-44 of a turn, from 0 to 2^44 - 1: what rotary_angle takes for a step.
constexpr std::int64_t turn_units(double radians) {
  const long double turns = static_cast<long double>(radians) / (2 * std::numbers::pi_v<long double>);
  const auto whole = static_cast<std::int64_t>(turns);
  const long double part = turns - static_cast<long double>(whole) + (turns < static_cast<long double>(whole) ? 1 : 0);
  return static_cast<std::int64_t>(part * 0x1p44L + 0.5L) % (std::int64_t{1} << 44);
}

struct RotaryAngle {
  static constexpr std::string_view name = "rotary_angle",
                                    meaning = "position * step modulo a turn, in radians from -pi to pi; step is in units of 2^-44 of a turn "
                                              "(turn_units). Exact but for the rounding of step and of the result, for positions below 2^31 in "
                                              "size: cos and sin of it are right to 1e-6 up to 10^6 and more, where those of an f32 product of "
                                              "position and frequency are off by angle * 2^-24";
  static constexpr int arity = 2;
  static constexpr auto fields = std::tuple{};

  /// Refuses a position that is no i64 or i32, and a step that is no i64.
  constexpr Text check(std::span<const Type> in) const {
    if (in[0].kind != Kind::i64 && in[0].kind != Kind::i32) return sentence("position is ", in[0].kind, "; it must be i64 or i32");
    if (in[1].kind != Kind::i64) return sentence("step is ", in[1].kind, "; it must be i64, in units of 2^-44 of a turn (turn_units)");
    return {};
  }
  /// With step = upper 2^22 + lower, no integer is beyond 2^53, up to which the interpreter is exact, too.
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const auto whole = [&](std::int64_t x) { return literal(in[0].graph, static_cast<double>(x), Kind::i64, at); };
    const auto modulo = [&](Value x, std::int64_t m) { return call(Mod{}, {x, whole(m)}, at); };
    const Value position = call(ToI64{}, {in[0]}, at), step = modulo(in[1], turn);
    const Value upper = modulo(call(Multiply{}, {position, call(FloorDiv{}, {step, whole(half)}, at)}, at), half);
    const Value lower = call(Multiply{}, {position, modulo(step, half)}, at);
    const Value units = call(Add{}, {call(Multiply{}, {upper, whole(half)}, at), modulo(lower, turn)}, at);
    const Value centred = call(Subtract{}, {modulo(call(Add{}, {units, whole(turn / 2)}, at), turn), whole(turn / 2)}, at);
    // 2^28 units of a turn: 2e-8, in an integer of 32 bits
    const Value coarse = call(FloorDiv{}, {call(Add{}, {centred, whole(1 << 15)}, at), whole(1 << 16)}, at);
    return call(Multiply{}, {call(ToReal{}, {coarse}, at), literal(in[0].graph, 2 * std::numbers::pi * 0x1p-28, Kind::real, at)}, at);
  }
  static constexpr std::int64_t half = std::int64_t{1} << 22, turn = std::int64_t{1} << 44;
};

/// Of steps in units of 2^-44 of a turn.
constexpr Value rotary_angle(Value position, Value step, Here at = Here::current()) { return call(RotaryAngle{}, {position, step}, at); }
/// Of one step in radians.
constexpr Value rotary_angle(Value position, double step, Here at = Here::current()) {
  const Value units = literal(position.graph, static_cast<double>(turn_units(step)), Kind::i64, at);
  return call(RotaryAngle{}, {position, units}, at);
}

}  // namespace attune
