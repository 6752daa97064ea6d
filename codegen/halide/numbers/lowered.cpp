#include "codegen/halide/numbers/lowered.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "codegen/halide/numbers/opaque_real.h"
#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"

using Halide::cast;
using Halide::Expr;
using Halide::Float;
using Halide::Int;
using Halide::Internal::is_const_one;
using Halide::Internal::is_const_zero;

namespace attune {
namespace {

using Integer = std::int64_t;
using namespace ranges;

bool is_narrow(const Lowered& x) { return x.expr.type().bits() == 32; }
Expr wide(const Lowered& x) { return is_narrow(x) ? cast(Int(64), x.expr) : x.expr; }

/// operation(a, b), an integer of the first of `ranges`: in 32 bits if the operands have them and every step, of which `ranges` tell, fits.
template <class Operation>
Lowered integer_result(const Lowered& a, const Lowered& b, std::initializer_list<Range> ranges, Operation operation) {
  const bool is_safe = is_narrow(a) && is_narrow(b) && std::all_of(ranges.begin(), ranges.end(), fits_int32);
  return Lowered::of(is_safe ? operation(a.expr, b.expr) : operation(wide(a), wide(b)), *ranges.begin());
}

/// operation(a, b), which stays in the range: Halide's analysis of bounds knows of `&` only where it proves that no operand is negative, and of `|` and
/// `^` no greatest result.
template <class Operation>
Lowered bits_result(const Lowered& a, const Lowered& b, const Range& range, Operation operation) {
  if (a.range.is_single() && b.range.is_single()) return Lowered::integer(operation(a.range.low, b.range.low));
  const Lowered result = integer_result(a, b, {range}, operation);
  if (range.is_single() || range.high == greatest) return result;
  const auto end = [&](Integer value) { return Halide::Internal::make_const(result.expr.type(), value); };
  return {Halide::unsafe_promise_clamped(result.expr, end(range.low), end(range.high)), range};
}

/// x - x. Of strict nodes, too, Halide's analysis of bounds makes 0; bits are beyond it.
Expr zero_if_finite(const Expr& x) {
  return Halide::reinterpret<float>(Halide::select(has_finite_bits(x), Expr(0u), Expr(0x7fc00000u)));
}

/// x / x: 1, or NaN of zero, infinities and NaN.
Expr one_if_finite_and_not_zero(const Expr& x) {
  const Expr magnitude = Halide::reinterpret<std::uint32_t>(x) & Expr(0x7fffffffu);
  return Halide::reinterpret<float>(Halide::select(magnitude - Expr(1u) < Expr(0x7f7fffffu), Expr(0x3f800000u), Expr(0x7fc00000u)));
}

bool may_be_special(const Lowered& a, const Lowered& b) { return a.may_be_special || b.may_be_special; }
/// The result of arithmetic on a and b, of which one may be special.
Lowered special(Expr e) { return {std::move(e), {}, true}; }

/// Of the product of a and b.
std::shared_ptr<const Load> scaled_load(const Lowered& a, const Lowered& b) {
  const auto& load = a.load ? a.load : b.load;
  const Expr& factor = a.load ? b.expr : a.expr;
  if (!load || reads_memory(factor)) return nullptr;
  auto scaled = std::make_shared<Load>(*load);
  scaled->factor = load->constant_factor() == 1.f ? factor : Halide::Internal::simplify(load->factor * factor);
  return scaled;
}

/// What holds of integers by their ranges, or else the comparison of a and b.
template <class Comparison>
Lowered compared(const Lowered& a, const Lowered& b, bool is_always, bool is_never, Comparison comparison) {
  if (is_always || is_never) return Lowered::boolean(is_always);
  return {is_narrow(a) && is_narrow(b) ? comparison(a.expr, b.expr) : comparison(wide(a), wide(b))};
}

}  // namespace

Lowered Lowered::real(double value) {
  const auto number = static_cast<float>(value);
  if (!needs_opaque_real(number)) return {Expr(number)};
  return special(opaque_real(number));
}
Lowered Lowered::bound(double value) { return {Expr(static_cast<float>(value))}; }
Lowered Lowered::integer(std::int64_t value) {
  const Range range{value, value};
  return {fits_int32(range) ? Expr(static_cast<std::int32_t>(value)) : Expr(value), range};
}
Lowered Lowered::boolean(bool value) { return {value ? Halide::Internal::const_true() : Halide::Internal::const_false()}; }

Lowered Lowered::of(Expr loaded) {
  const Halide::Type type = loaded.type();
  if (type.is_bool() || type == Float(32)) return {std::move(loaded)};
  if (type.is_float()) return {cast(Float(32), std::move(loaded))};
  const int bits = type.bits() - (type.is_int() ? 1 : 0);
  const Integer highest = bits >= 63 ? greatest : (Integer{1} << bits) - 1;
  return of(std::move(loaded), {type.is_int() ? -highest - 1 : 0, highest});
}

Lowered Lowered::of(Expr value, Range range) {
  if (range.low == range.high) return integer(range.low);
  const Halide::Type type = fits_int32(range) ? Int(32) : Int(64);
  return {value.type() == type ? std::move(value) : cast(type, std::move(value)), range};
}

Lowered operator+(const Lowered& a, const Lowered& b) {
  if (a.is_real()) return may_be_special(a, b) ? special(strict_add(a.expr, b.expr)) : Lowered{a.expr + b.expr};
  return integer_result(a, b, {{sum(a.range.low, b.range.low), sum(a.range.high, b.range.high)}}, [](Expr x, Expr y) { return x + y; });
}

Lowered operator-(const Lowered& a, const Lowered& b) {
  if (a.is_real() && Halide::Internal::graph_equal(a.expr, b.expr)) return {zero_if_finite(a.expr), {}, a.may_be_special};
  if (a.is_real()) return may_be_special(a, b) ? special(strict_subtract(a.expr, b.expr)) : Lowered{a.expr - b.expr};
  const Range minus_b = negative(b.range);
  return integer_result(a, b, {{sum(a.range.low, minus_b.low), sum(a.range.high, minus_b.high)}}, [](Expr x, Expr y) { return x - y; });
}

Lowered operator-(const Lowered& a) {
  if (!a.is_real()) return Lowered::integer(0) - a;
  return a.may_be_special ? special(strict_multiply(a.expr, -1.f)) : Lowered{a.expr * -1.f};
}

namespace {

/// Halide makes x * factor + c * factor of (x + c) * factor, which is rounded by the size of c * factor where the sum may be small: of an exporter's
/// mask (1 - visible) * -10000 the fourth decimal of each score would go. Factors of at most 1 magnify nothing.
bool magnifies_a_sum(const Expr& sum, const Expr& factor) {
  const std::optional<double> size = Halide::Internal::as_const_float(factor);
  if (!size || std::abs(*size) <= 1) return false;
  const auto* add = sum.as<Halide::Internal::Add>();
  const auto* subtract = sum.as<Halide::Internal::Sub>();
  return (add != nullptr && (is_const(add->a) || is_const(add->b))) || (subtract != nullptr && (is_const(subtract->a) || is_const(subtract->b)));
}

}  // namespace

Lowered operator*(const Lowered& a, const Lowered& b) {
  if (a.is_real() && may_be_special(a, b)) return special(strict_multiply(a.expr, b.expr));
  if (a.is_real() && (magnifies_a_sum(a.expr, b.expr) || magnifies_a_sum(b.expr, a.expr))) return {strict_multiply(a.expr, b.expr)};
  // Halide makes 0 of 0 * x; not so of infinities and NaN.
  if (a.is_real() && (is_const_zero(a.expr) || is_const_zero(b.expr))) return {strict_multiply(a.expr, b.expr)};
  if (a.is_real()) return {a.expr * b.expr, {}, false, scaled_load(a, b)};
  return integer_result(a, b, {corners(a.range, b.range, product)}, [](Expr x, Expr y) { return x * y; });
}

Lowered operator/(const Lowered& a, const Lowered& b) {
  if (Halide::Internal::graph_equal(a.expr, b.expr)) return {one_if_finite_and_not_zero(a.expr), {}, a.may_be_special};
  if (!is_const_zero(b.expr)) return may_be_special(a, b) ? special(strict_divide(a.expr, b.expr)) : Lowered{a.expr / b.expr};
  // Halide refuses to divide by a constant 0.
  const double zero = Halide::Internal::as_const_float(b.expr).value_or(0);
  return a * Lowered::real(std::copysign(std::numeric_limits<double>::infinity(), zero));
}

// Halide's quotients are rounded down for positive divisors, and those by 0 are 0; a / b = -a / -b makes divisors positive. Of the least
// i64, which has no negative, nothing is promised, but an unbounded end, which is that constant, keeps its side.
Lowered floor_div(const Lowered& a, const Lowered& b) {
  if (b.range == Range{0, 0}) return Lowered::integer(0);
  if (b.range.low > 0) return integer_result(a, b, {corners(a.range, b.range, quotient)}, [](Expr x, Expr y) { return x / y; });
  if (a.range.is_single() && a.range.low == least) return floor_div(Lowered::integer(least + 1), b);
  const Integer largest = magnitude(a.range).high;
  const Range range = b.range.high < 0 ? corners(a.range, b.range, quotient) : Range{negative(largest), largest};
  return integer_result(a, b, {range, negative(a.range), magnitude(b.range)},
                        [](Expr x, Expr y) { return Halide::select(y < 0, -x, x) / Halide::select(y < 0, -y, y); });
}

Lowered mod(const Lowered& a, const Lowered& b) {
  if (b.range == Range{0, 0}) return Lowered::integer(0);
  if (b.range.low > 0) {
    const bool is_small = a.range.low >= 0 && a.range.high < b.range.low;
    const Integer high = a.range.low >= 0 ? std::min(a.range.high, b.range.high - 1) : b.range.high - 1;
    return is_small ? a : integer_result(a, b, {{0, high}}, [](Expr x, Expr y) { return x % y; });
  }
  const Range range{std::min(sum(b.range.low, 1), Integer{0}), std::max(sum(b.range.high, -1), Integer{0})};
  return integer_result(a, b, {range, negative(a.range), magnitude(b.range)}, [](Expr x, Expr y) {
    const Expr rest = Halide::select(y < 0, -x, x) % Halide::select(y < 0, -y, y);
    return Halide::select(y < 0, -rest, rest);
  });
}

Lowered bit_and(const Lowered& a, const Lowered& b) {
  return bits_result(a, b, common_bits(a.range, b.range), [](auto x, auto y) { return x & y; });
}
Lowered bit_or(const Lowered& a, const Lowered& b) {
  return bits_result(a, b, bits(a.range, b.range), [](auto x, auto y) { return x | y; });
}
Lowered bit_xor(const Lowered& a, const Lowered& b) {
  return bits_result(a, b, bits(a.range, b.range), [](auto x, auto y) { return x ^ y; });
}

namespace {

/// shift(a, b), b cut to what is promised. `corner` is its value for ends of ranges.
template <class Shift>
Lowered shifted(const Lowered& a, const Lowered& b, Integer (*corner)(Integer, Integer), Shift shift) {
  const Lowered by = minimum(maximum(b, Lowered::integer(shifts.low)), Lowered::integer(shifts.high));
  const Range range = corners(a.range, shift_of(b.range), corner), needed = is_narrow_shift(by.range) ? range : Range{least, greatest};
  return integer_result(a, by, {range, needed}, shift);
}

}  // namespace

Lowered shift_left(const Lowered& a, const Lowered& b) {
  return shifted(a, b, shifted_left, [](Expr x, Expr y) { return x << y; });
}
Lowered shift_right(const Lowered& a, const Lowered& b) {
  return shifted(a, b, shifted_right, [](Expr x, Expr y) { return x >> y; });
}

Lowered minimum(const Lowered& a, const Lowered& b) {
  if (a.is_boolean()) return a && b;
  if (Halide::Internal::graph_equal(a.expr, b.expr)) return a;
  if (a.is_real()) return {vector_math::minimum(a.expr, b.expr), {}, may_be_special(a, b)};
  if (a.range.high <= b.range.low) return a;
  if (b.range.high <= a.range.low) return b;
  const Range range{std::min(a.range.low, b.range.low), std::min(a.range.high, b.range.high)};
  return integer_result(a, b, {range}, [](Expr x, Expr y) { return Halide::min(x, y); });
}

Lowered maximum(const Lowered& a, const Lowered& b) {
  if (a.is_boolean()) return a || b;
  if (Halide::Internal::graph_equal(a.expr, b.expr)) return a;
  if (a.is_real()) return {vector_math::maximum(a.expr, b.expr), {}, may_be_special(a, b)};
  if (a.range.low >= b.range.high) return a;
  if (b.range.low >= a.range.high) return b;
  const Range range{std::max(a.range.low, b.range.low), std::max(a.range.high, b.range.high)};
  return integer_result(a, b, {range}, [](Expr x, Expr y) { return Halide::max(x, y); });
}

Lowered abs(const Lowered& x) {
  if (x.is_real()) return {Halide::abs(x.expr), {}, x.may_be_special};
  if (x.range.low >= 0) return x;
  return integer_result(x, x, {magnitude(x.range), negative(x.range)}, [](Expr a, Expr) { return Halide::select(a < 0, -a, a); });
}

Lowered operator<(const Lowered& a, const Lowered& b) {
  if (a.is_real()) return {strict_less(a.expr, b.expr)};
  return compared(a, b, a.range.high < b.range.low, a.range.low >= b.range.high, [](Expr x, Expr y) { return x < y; });
}
Lowered operator<=(const Lowered& a, const Lowered& b) {
  if (a.is_real()) return {strict_less_equal(a.expr, b.expr)};
  return compared(a, b, a.range.high <= b.range.low, a.range.low > b.range.high, [](Expr x, Expr y) { return x <= y; });
}
Lowered operator>(const Lowered& a, const Lowered& b) { return b < a; }
Lowered operator>=(const Lowered& a, const Lowered& b) { return b <= a; }
Lowered operator==(const Lowered& a, const Lowered& b) {
  if (a.is_real()) return {strict_equal(a.expr, b.expr)};
  const bool is_always = a.range == b.range && a.range.low == a.range.high;
  const bool is_never = a.range.high < b.range.low || b.range.high < a.range.low;
  return compared(a, b, is_always, is_never, [](Expr x, Expr y) { return x == y; });
}
Lowered operator!=(const Lowered& a, const Lowered& b) { return !(a == b); }

Lowered operator&&(const Lowered& a, const Lowered& b) {
  if (is_const_one(a.expr) || is_const_zero(b.expr)) return b;
  if (is_const_one(b.expr) || is_const_zero(a.expr)) return a;
  return {a.expr && b.expr};
}
Lowered operator||(const Lowered& a, const Lowered& b) {
  if (is_const_zero(a.expr) || is_const_one(b.expr)) return b;
  if (is_const_zero(b.expr) || is_const_one(a.expr)) return a;
  return {a.expr || b.expr};
}
Lowered operator!(const Lowered& a) {
  if (is_const_one(a.expr) || is_const_zero(a.expr)) return Lowered::boolean(is_const_zero(a.expr));
  return {!a.expr};
}

Lowered select(const Lowered& condition, const Lowered& a, const Lowered& b) {
  if (is_const_one(condition.expr)) return a;
  if (is_const_zero(condition.expr)) return b;
  if (a.is_boolean()) return (condition && a) || (!condition && b);
  if (a.is_real()) return {Halide::select(condition.expr, a.expr, b.expr), {}, may_be_special(a, b)};
  return integer_result(a, b, {hull(a.range, b.range)}, [&](Expr x, Expr y) { return Halide::select(condition.expr, x, y); });
}

}  // namespace attune
