/// What each instruction computes, by the manual of PTX (ISA 7.0, "Instruction Set").
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/bfloat16.h"
#include "runtime/float16.h"
#include "tests/ptx/module.h"

namespace attune::ptx {
namespace {

template <class T>
T as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// A rule's function from one of values: every operand is of the type T.
template <class T, auto function>
std::uint64_t of(const std::uint64_t* x) {
  if constexpr (std::is_invocable_v<decltype(function), T>) return bits_of(function(as<T>(x[0])));
  else if constexpr (std::is_invocable_v<decltype(function), T, T>) return bits_of(function(as<T>(x[0]), as<T>(x[1])));
  else return bits_of(function(as<T>(x[0]), as<T>(x[1]), as<T>(x[2])));
}

// Integers wrap around, so sums and products are those of numbers without signs.
constexpr auto add = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
constexpr auto subtract = [](auto a, auto b) { return static_cast<decltype(a)>(a - b); };
constexpr auto multiply = [](auto a, auto b) { return static_cast<decltype(a)>(a * b); };
constexpr auto multiply_add = [](auto a, auto b, auto c) { return static_cast<decltype(a)>(a * b + c); };
constexpr auto divide = [](float a, float b) { return a / b; };
constexpr auto reciprocal = [](float a) { return 1 / a; };
constexpr auto fused = [](float a, float b, float c) { return std::fma(a, b, c); };
/// The machine's lies within 2 ulp. Operands and results below 2^-126 are 0.
constexpr auto power_of_2 = [](float a) {
  const float result = std::exp2(std::fabs(a) < std::numeric_limits<float>::min() ? 0.0F : a);
  return result < std::numeric_limits<float>::min() ? 0.0F : result;
};
constexpr auto power_of_2_of_any = [](float a) { return std::exp2(a); };
constexpr auto both = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto either = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto one_of_both = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
constexpr auto inverse = [](auto a) { return static_cast<decltype(a)>(~a); };
constexpr auto least = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto greatest = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto same = [](auto a) { return a; };
constexpr auto negative = [](auto a) { return -a; };

/// Of numbers a and b; the other one where one is NaN.
constexpr auto least_number = [](float a, float b) { return std::fmin(a, b); };
constexpr auto greatest_number = [](float a, float b) { return std::fmax(a, b); };
/// NaN where one is NaN.
constexpr auto least_or_nan = [](float a, float b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmin(a, b); };
constexpr auto greatest_or_nan = [](float a, float b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmax(a, b); };
/// The first operand's sign on the second.
constexpr auto with_sign = [](float a, float b) { return std::copysign(b, a); };
constexpr auto size_of_real = [](float a) { return std::fabs(a); };
constexpr auto size_of_integer = [](auto a) { return a < 0 ? static_cast<decltype(a)>(-static_cast<std::make_unsigned_t<decltype(a)>>(a)) : a; };

/// The machine gives some number where b is zero, and INT_MIN / -1 is too large: kernels divide by neither.
constexpr auto quotient = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
  return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b);
};
constexpr auto remainder_of = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return T{0};
  return b == 0 ? a : static_cast<T>(a % b);
};

template <class Wide, class Narrow>
std::uint64_t multiply_wide(const std::uint64_t* x) {
  return bits_of(static_cast<Wide>(as<Narrow>(x[0])) * static_cast<Wide>(as<Narrow>(x[1])));
}
std::uint64_t multiply_high(const std::uint64_t* x) { return as<std::uint32_t>(x[0]) * std::uint64_t{as<std::uint32_t>(x[1])} >> 32; }

/// Shifts by all bits and more give 0, or the sign.
constexpr auto shift_left = [](std::uint32_t a, std::uint32_t by) { return by > 31 ? 0U : a << by; };
template <class T>
constexpr T shift_right(T a, std::uint32_t by) {
  return by >= 8 * sizeof a ? T{0} : a >> by;
}
std::uint64_t shift_right_signed(const std::uint64_t* x) { return bits_of(as<std::int32_t>(x[0]) >> std::min(as<std::uint32_t>(x[1]), 31U)); }
std::uint64_t shift_left_wide(const std::uint64_t* x) { return as<std::uint32_t>(x[1]) > 63 ? 0 : x[0] << x[1]; }
/// The high half of b:a shifted left by the low five bits of c.
constexpr auto funnel_left = [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return c % 32 == 0 ? b : b << c % 32 | a >> (32 - c % 32); };

/// So many bits (third operand) of the first from a place on (second), of which both the low eight bits count.
constexpr auto field = [](std::uint32_t a, std::uint32_t from, std::uint32_t count) {
  return static_cast<std::uint32_t>(shift_right<std::uint64_t>(a, from & 255) & ((std::uint64_t{1} << std::min(count & 255, 32U)) - 1));
};

std::uint64_t select(const std::uint64_t* x) { return x[2] != 0 ? x[0] : x[1]; }

/// Comparisons of reals with NaN are false, but for "not equal or unordered".
template <class T, auto compare>
std::uint64_t whether(const std::uint64_t* x) {
  return compare(as<T>(x[0]), as<T>(x[1])) ? 1 : 0;
}
constexpr auto is_equal = [](auto a, auto b) { return a == b; };
constexpr auto is_other = [](auto a, auto b) { return a < b || a > b; };
constexpr auto is_other_or_unordered = [](auto a, auto b) { return !(a == b); };
constexpr auto is_less = [](auto a, auto b) { return a < b; };
constexpr auto is_less_or_equal = [](auto a, auto b) { return a <= b; };
constexpr auto is_greater = [](auto a, auto b) { return a > b; };
constexpr auto is_greater_or_equal = [](auto a, auto b) { return a >= b; };
constexpr auto is_unordered = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
constexpr auto is_ordered = [](float a, float b) { return !std::isnan(a) && !std::isnan(b); };

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
std::uint64_t widened(const std::uint64_t* x) {
  float16 narrow;
  narrow.bits = as<std::uint16_t>(x[0]);
  return bits_of(static_cast<float>(narrow));
}

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

constexpr Rule rules[] = {
    {"abs.f32", 1, of<float, size_of_real>},
    {"abs.s32", 1, of<s32, size_of_integer>},
    {"abs.s64", 1, of<s64, size_of_integer>},
    {"add.f32", 2, of<float, add>},
    {"add.rn.f32", 2, of<float, add>},
    {"add.s32", 2, of<u32, add>},
    {"add.s64", 2, of<u64, add>},
    {"and.b16", 2, of<std::uint16_t, both>},
    {"and.b32", 2, of<u32, both>},
    {"and.b64", 2, of<u64, both>},
    {"and.pred", 2, of<u64, both>},
    {"bfe.u32", 3, of<u32, field>},
    {"copysign.f32", 2, of<float, with_sign>},
    {"cvt.f32.f16", 1, widened},
    {"cvt.rmi.f32.f32", 1, [](const u64* x) { return bits_of(std::floor(as<float>(x[0]))); }},
    {"cvt.rn.bf16.f32", 1, narrowed<bfloat16>},
    {"cvt.rn.bf16x2.f32", 2, narrowed_pair<bfloat16>},
    {"cvt.rn.f16.f32", 1, narrowed<float16>},
    {"cvt.rn.f16x2.f32", 2, narrowed_pair<float16>},
    {"cvt.rn.f32.s32", 1, converted<float, s32>},
    {"cvt.rn.f32.s64", 1, converted<float, s64>},
    {"cvt.rn.f32.u32", 1, converted<float, u32>},
    {"cvt.rzi.s32.f32", 1, truncated<s32>},
    {"cvt.rzi.s64.f32", 1, truncated<s64>},
    {"cvt.s64.s32", 1, converted<s64, s32>},
    {"cvt.u16.u32", 1, converted<std::uint16_t, u32>},
    {"cvt.u32.u16", 1, converted<u32, std::uint16_t>},
    {"cvt.u32.u64", 1, converted<u32, u64>},
    {"cvt.u64.u16", 1, converted<u64, std::uint16_t>},
    {"cvt.u64.u32", 1, converted<u64, u32>},
    {"cvta.to.global.u64", 1, of<u64, same>},
    {"div.rn.f32", 2, of<float, divide>},
    {"div.s32", 2, of<s32, quotient>},
    {"div.s64", 2, of<s64, quotient>},
    {"div.u32", 2, of<u32, quotient>},
    {"div.u64", 2, of<u64, quotient>},
    {"ex2.approx.f32", 1, of<float, power_of_2_of_any>},
    {"ex2.approx.ftz.f32", 1, of<float, power_of_2>},
    {"fma.rn.f32", 3, of<float, fused>},
    {"high half of mov.b32", 1, [](const u64* x) { return x[0] >> 16 & 0xffff; }},
    {"high half of mov.b64", 1, [](const u64* x) { return x[0] >> 32; }},
    {"low half of mov.b32", 1, [](const u64* x) { return x[0] & 0xffff; }},
    {"low half of mov.b64", 1, [](const u64* x) { return x[0] & 0xffffffff; }},
    {"mad.lo.s32", 3, of<u32, multiply_add>},
    {"mad.lo.s64", 3, of<u64, multiply_add>},
    {"max.NaN.f32", 2, of<float, greatest_or_nan>},
    {"max.f32", 2, of<float, greatest_number>},
    {"max.s32", 2, of<s32, greatest>},
    {"max.s64", 2, of<s64, greatest>},
    {"max.u16", 2, of<std::uint16_t, greatest>},
    {"max.u32", 2, of<u32, greatest>},
    {"max.u64", 2, of<u64, greatest>},
    {"min.NaN.f32", 2, of<float, least_or_nan>},
    {"min.f32", 2, of<float, least_number>},
    {"min.s32", 2, of<s32, least>},
    {"min.s64", 2, of<s64, least>},
    {"min.u16", 2, of<std::uint16_t, least>},
    {"min.u32", 2, of<u32, least>},
    {"min.u64", 2, of<u64, least>},
    {"mov.b16", 1, of<u64, same>},
    {"mov.b32", 1, of<u64, same>},
    {"mov.b64", 1, of<u64, same>},
    {"mov.pred", 1, of<u64, same>},
    {"mov.u32", 1, of<u64, same>},
    {"mul.f32", 2, of<float, multiply>},
    {"mul.hi.s32", 2, [](const u64* x) { return bits_of(static_cast<s32>(s64{as<s32>(x[0])} * as<s32>(x[1]) >> 32)); }},
    {"mul.hi.u16", 2, [](const u64* x) { return u64{as<std::uint16_t>(x[0])} * as<std::uint16_t>(x[1]) >> 16; }},
    {"mul.hi.u32", 2, multiply_high},
    {"mul.lo.s16", 2, of<std::uint16_t, multiply>},
    {"mul.lo.s32", 2, of<u32, multiply>},
    {"mul.lo.s64", 2, of<u64, multiply>},
    {"mul.wide.s32", 2, multiply_wide<std::int64_t, std::int32_t>},
    {"mul.wide.u16", 2, multiply_wide<u32, std::uint16_t>},
    {"mul.wide.u32", 2, multiply_wide<std::uint64_t, std::uint32_t>},
    {"neg.f32", 1, of<float, negative>},
    {"neg.s32", 1, of<u32, negative>},
    {"neg.s64", 1, of<u64, negative>},
    {"not.b32", 1, of<u32, inverse>},
    {"not.b64", 1, of<u64, inverse>},
    {"not.pred", 1, [](const u64* x) { return u64{x[0] == 0}; }},
    {"or.b16", 2, of<std::uint16_t, either>},
    {"or.b32", 2, of<u32, either>},
    {"or.b64", 2, of<u64, either>},
    {"or.pred", 2, of<u64, either>},
    {"pair of mov.b32", 2, [](const u64* x) { return (x[1] & 0xffff) << 16 | (x[0] & 0xffff); }},
    {"pair of mov.b64", 2, [](const u64* x) { return x[1] << 32 | (x[0] & 0xffffffff); }},
    {"rcp.rn.f32", 1, of<float, reciprocal>},
    {"rem.s32", 2, of<s32, remainder_of>},
    {"rem.s64", 2, of<s64, remainder_of>},
    {"rem.u32", 2, of<u32, remainder_of>},
    {"rem.u64", 2, of<u64, remainder_of>},
    {"selp.b16", 3, select},
    {"selp.b32", 3, select},
    {"selp.b64", 3, select},
    {"selp.f32", 3, select},
    {"setp.eq.b16", 2, whether<std::uint16_t, is_equal>},
    {"setp.eq.b32", 2, whether<u32, is_equal>},
    {"setp.eq.b64", 2, whether<u64, is_equal>},
    {"setp.eq.f32", 2, whether<float, is_equal>},
    {"setp.equ.f32", 2, [](const u64* x) { return u64{as<float>(x[0]) == as<float>(x[1]) || is_unordered(as<float>(x[0]), as<float>(x[1]))}; }},
    {"setp.ge.f32", 2, whether<float, is_greater_or_equal>},
    {"setp.ge.s32", 2, whether<s32, is_greater_or_equal>},
    {"setp.ge.s64", 2, whether<s64, is_greater_or_equal>},
    {"setp.ge.u32", 2, whether<u32, is_greater_or_equal>},
    {"setp.geu.f32", 2, [](const u64* x) { return u64{!(as<float>(x[0]) < as<float>(x[1]))}; }},
    {"setp.gt.f32", 2, whether<float, is_greater>},
    {"setp.gt.s32", 2, whether<s32, is_greater>},
    {"setp.gt.s64", 2, whether<s64, is_greater>},
    {"setp.gt.u32", 2, whether<u32, is_greater>},
    {"setp.gtu.f32", 2, [](const u64* x) { return u64{!(as<float>(x[0]) <= as<float>(x[1]))}; }},
    {"setp.le.f32", 2, whether<float, is_less_or_equal>},
    {"setp.le.s32", 2, whether<s32, is_less_or_equal>},
    {"setp.le.s64", 2, whether<s64, is_less_or_equal>},
    {"setp.le.u32", 2, whether<u32, is_less_or_equal>},
    {"setp.leu.f32", 2, [](const u64* x) { return u64{!(as<float>(x[0]) > as<float>(x[1]))}; }},
    {"setp.lt.f32", 2, whether<float, is_less>},
    {"setp.lt.s32", 2, whether<s32, is_less>},
    {"setp.lt.s64", 2, whether<s64, is_less>},
    {"setp.lt.u16", 2, whether<std::uint16_t, is_less>},
    {"setp.lt.u32", 2, whether<u32, is_less>},
    {"setp.ltu.f32", 2, [](const u64* x) { return u64{!(as<float>(x[0]) >= as<float>(x[1]))}; }},
    {"setp.nan.f32", 2, whether<float, is_unordered>},
    {"setp.ne.b16", 2, whether<std::uint16_t, is_other_or_unordered>},
    {"setp.ne.b32", 2, whether<u32, is_other_or_unordered>},
    {"setp.ne.b64", 2, whether<u64, is_other_or_unordered>},
    {"setp.ne.f32", 2, whether<float, is_other>},
    {"setp.neu.f32", 2, whether<float, is_other_or_unordered>},
    {"setp.num.f32", 2, whether<float, is_ordered>},
    {"shf.l.wrap.b32", 3, of<u32, funnel_left>},
    {"shl.b32", 2, of<u32, shift_left>},
    {"shl.b64", 2, shift_left_wide},
    {"shr.s32", 2, shift_right_signed},
    {"shr.s64", 2, [](const u64* x) { return bits_of(as<s64>(x[0]) >> std::min(as<u32>(x[1]), 63U)); }},
    {"shr.u16", 2, [](const u64* x) { return u64{as<std::uint16_t>(x[0])} >> std::min(as<u32>(x[1]), 16U); }},
    {"shr.u32", 2, of<u32, shift_right<u32>>},
    {"shr.u64", 2, [](const u64* x) { return shift_right<u64>(x[0], as<u32>(x[1])); }},
    {"sqrt.rn.f32", 1, [](const u64* x) { return bits_of(std::sqrt(as<float>(x[0]))); }},
    {"sub.f32", 2, of<float, subtract>},
    {"sub.s16", 2, of<std::uint16_t, subtract>},
    {"sub.s32", 2, of<u32, subtract>},
    {"sub.s64", 2, of<u64, subtract>},
    {"xor.b32", 2, of<u32, one_of_both>},
    {"xor.b64", 2, of<u64, one_of_both>},
    {"xor.pred", 2, of<u64, one_of_both>},
};

}  // namespace

const Rule* find_rule(std::string_view name) {
  for (const Rule& rule : rules)
    if (rule.name == name) return &rule;
  return nullptr;
}

}  // namespace attune::ptx
