#include "codegen/tensor_cores/number.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/IR/Matchers.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>

namespace attune::tensor_cores {
namespace {

namespace arith = mlir::arith;
using mlir::Value;
using Integer = std::int64_t;
using namespace ranges;

bool is_single(const Emitted& x) { return x.range.is_single(); }
bool is_unbounded(const Emitted& end) { return is_single(end) && (end.range.low <= least + 1 || end.range.low == greatest); }
std::optional<bool> known_truth(const Emitted& x) {
  llvm::APInt truth;
  return mlir::matchPattern(x.value, mlir::m_ConstantInt(&truth)) ? std::optional(!truth.isZero()) : std::nullopt;
}

Value wide(const Emitted& x) {
  return x.value.getType().isInteger(64) ? x.value : x.builder->createOrFold<arith::ExtSIOp>(x.builder->getI64Type(), x.value);
}
bool is_narrow(const Emitted& x) { return x.value.getType().isInteger(32); }

/// Of integers: in 32 bits if the operands have them and the result fits.
template <class Op>
Emitted integer_result(const Emitted& a, const Emitted& b, Range range) {
  const bool is_safe = is_narrow(a) && is_narrow(b) && fits_int32(range);
  return Emitted::of(*a.builder, a.builder->createOrFold<Op>(is_safe ? a.value : wide(a), is_safe ? b.value : wide(b)), range);
}
template <class Op>
Emitted real_result(const Emitted& a, const Emitted& b) {
  return {a.builder, a.builder->createOrFold<Op>(a.value, b.value), {}};
}
template <class Op>
Emitted function(const Emitted& x) {
  return {x.builder, x.builder->createOrFold<Op>(to_real(x).value), {}};
}

Emitted fused(const Emitted& a, const Emitted& b, const Emitted& c) {
  return {a.builder, a.builder->createOrFold<mlir::math::FmaOp>(a.value, b.value, c.value), {}};
}
/// The polynomial of x with these coefficients, that of the highest power first.
Emitted polynomial(const Emitted& x, std::initializer_list<double> coefficients) {
  Emitted sum = Emitted::real(*x.builder, *coefficients.begin());
  for (auto c = coefficients.begin() + 1; c != coefficients.end(); ++c) sum = fused(sum, x, Emitted::real(*x.builder, *c));
  return sum;
}
Emitted reciprocal(const Emitted& x) { return {x.builder, instruction(*x.builder, "llvm.nvvm.rcp.approx.ftz.f", x.value), {}}; }

Emitted compared(const Emitted& a, const Emitted& b, arith::CmpFPredicate of_reals, arith::CmpIPredicate of_integers) {
  if (a.is_real()) return {a.builder, a.builder->createOrFold<arith::CmpFOp>(of_reals, a.value, b.value), {}};
  const bool is_small = is_narrow(a) && is_narrow(b);
  return {a.builder, a.builder->createOrFold<arith::CmpIOp>(of_integers, is_small ? a.value : wide(a), is_small ? b.value : wide(b)), {}};
}
Emitted known_or(const Emitted& a, bool is_always, bool is_never, const auto& comparison) {
  return a.is_integer() && (is_always || is_never) ? Emitted::boolean(*a.builder, is_always) : comparison();
}

/// Quotient and remainder towards zero, of a divisor that is not 0.
struct Division {
  Emitted quotient, remainder;
};
Division divided(const Emitted& a, const Emitted& b) {
  const Integer most = magnitude(a.range).high, below = sum(magnitude(b.range).high, -1);
  const Range quotients{a.range.low >= 0 && b.range.low >= 0 ? 0 : negative(most), most};
  return {integer_result<arith::DivSIOp>(a, b, quotients), integer_result<arith::RemSIOp>(a, b, {a.range.low >= 0 ? 0 : negative(below), below})};
}

}  // namespace

Emitted Emitted::real(Builder& builder, double value) {
  return {&builder, arith::ConstantOp::create(builder, builder.getF32FloatAttr(static_cast<float>(value))), {}};
}
Emitted Emitted::integer(Builder& builder, std::int64_t value) {
  const Range range{value, value};
  return {&builder,
          arith::ConstantOp::create(builder, builder.getIntegerAttr(fits_int32(range) ? builder.getI32Type() : builder.getI64Type(), value)), range};
}
Emitted Emitted::boolean(Builder& builder, bool value) { return {&builder, arith::ConstantOp::create(builder, builder.getBoolAttr(value)), {}}; }

Emitted Emitted::of(Builder& builder, mlir::Value integer, Range range) {
  if (range.low == range.high) return Emitted::integer(builder, range.low);
  const mlir::Type type = fits_int32(range) ? builder.getI32Type() : builder.getI64Type();
  if (integer.getType() == type) return {&builder, integer, range};
  const bool is_wider = integer.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth();
  return {&builder, is_wider ? builder.createOrFold<arith::TruncIOp>(type, integer) : builder.createOrFold<arith::ExtSIOp>(type, integer), range};
}

Emitted operator+(const Emitted& a, const Emitted& b) {
  if (a.is_real()) return real_result<arith::AddFOp>(a, b);
  return integer_result<arith::AddIOp>(a, b, {sum(a.range.low, b.range.low), sum(a.range.high, b.range.high)});
}
Emitted operator-(const Emitted& a, const Emitted& b) {
  if (a.is_real()) return real_result<arith::SubFOp>(a, b);
  const Range minus = negative(b.range);
  return integer_result<arith::SubIOp>(a, b, {sum(a.range.low, minus.low), sum(a.range.high, minus.high)});
}
Emitted operator-(const Emitted& a) {
  return a.is_real() ? Emitted{a.builder, a.builder->createOrFold<arith::NegFOp>(a.value), {}} : Emitted::integer(*a.builder, 0) - a;
}
Emitted operator*(const Emitted& a, const Emitted& b) {
  if (a.is_real()) return real_result<arith::MulFOp>(a, b);
  return integer_result<arith::MulIOp>(a, b, corners(a.range, b.range, product));
}
Emitted operator/(const Emitted& a, const Emitted& b) { return real_result<arith::DivFOp>(a, b); }

Emitted floor_div(const Emitted& a, const Emitted& b) {
  const Emitted zero = Emitted::integer(*a.builder, 0), one = Emitted::integer(*a.builder, 1);
  if (b.range == Range{}) return zero;
  const bool may_be_zero = b.range.low <= 0 && b.range.high >= 0;
  const Emitted divisor = may_be_zero ? select(b == zero, one, b) : b;
  const Division parts = divided(a, divisor);
  const bool is_rounded_down = a.range.low >= 0 && b.range.low > 0;
  const Emitted is_above = parts.remainder != zero && ((parts.remainder < zero) != (divisor < zero));
  const Emitted quotient = is_rounded_down ? parts.quotient : select(is_above, parts.quotient - one, parts.quotient);
  return may_be_zero ? select(b == zero, zero, quotient) : quotient;
}
Emitted mod(const Emitted& a, const Emitted& b) {
  if (b.range == Range{}) return Emitted::integer(*a.builder, 0);
  if (a.range.low >= 0 && a.range.high < b.range.low) return a;
  const Emitted zero = Emitted::integer(*a.builder, 0), one = Emitted::integer(*a.builder, 1);
  const bool may_be_zero = b.range.low <= 0 && b.range.high >= 0;
  const Emitted rest = divided(a, may_be_zero ? select(b == zero, one, b) : b).remainder;
  const Emitted signed_rest = a.range.low >= 0 && b.range.low > 0 ? rest : select(rest != zero && ((rest < zero) != (b < zero)), rest + b, rest);
  const Range range{std::min<Integer>(sum(b.range.low, 1), 0), std::max<Integer>(sum(b.range.high, -1), 0)};
  const Emitted result = Emitted::of(*a.builder, signed_rest.value, range);
  return may_be_zero ? select(b == zero, zero, result) : result;
}

Emitted bit_and(const Emitted& a, const Emitted& b) { return integer_result<arith::AndIOp>(a, b, common_bits(a.range, b.range)); }
Emitted bit_or(const Emitted& a, const Emitted& b) { return integer_result<arith::OrIOp>(a, b, bits(a.range, b.range)); }
Emitted bit_xor(const Emitted& a, const Emitted& b) { return integer_result<arith::XOrIOp>(a, b, bits(a.range, b.range)); }

/// Of a and b cut to what integers are shifted by; in 32 bits if that is less than 32.
template <class Op>
Emitted shifted(const Emitted& a, const Emitted& b, Integer (*of_corner)(Integer, Integer)) {
  Builder& builder = *a.builder;
  const Emitted by = minimum(maximum(b, Emitted::integer(builder, shifts.low)), Emitted::integer(builder, shifts.high));
  const Range range = corners(a.range, shift_of(b.range), of_corner);
  if (is_narrow_shift(by.range)) return integer_result<Op>(a, by, range);
  return Emitted::of(builder, builder.createOrFold<Op>(wide(a), wide(by)), range);
}
Emitted shift_left(const Emitted& a, const Emitted& b) { return shifted<arith::ShLIOp>(a, b, shifted_left); }
Emitted shift_right(const Emitted& a, const Emitted& b) { return shifted<arith::ShRSIOp>(a, b, shifted_right); }

Emitted minimum(const Emitted& a, const Emitted& b) {
  if (a.is_boolean()) return a && b;
  if (a.is_real()) return real_result<arith::MinimumFOp>(a, b);
  if (a.range.high <= b.range.low) return a;
  if (b.range.high <= a.range.low) return b;
  return integer_result<arith::MinSIOp>(a, b, {std::min(a.range.low, b.range.low), std::min(a.range.high, b.range.high)});
}
Emitted maximum(const Emitted& a, const Emitted& b) {
  if (a.is_boolean()) return a || b;
  if (a.is_real()) return real_result<arith::MaximumFOp>(a, b);
  if (a.range.low >= b.range.high) return a;
  if (b.range.low >= a.range.high) return b;
  return integer_result<arith::MaxSIOp>(a, b, {std::max(a.range.low, b.range.low), std::max(a.range.high, b.range.high)});
}
Emitted abs(const Emitted& x) {
  if (x.is_real()) return function<mlir::math::AbsFOp>(x);
  return x.range.low >= 0 ? x : maximum(x, -x);
}

Emitted operator<(const Emitted& a, const Emitted& b) {
  return known_or(a, a.range.high < b.range.low, a.range.low >= b.range.high,
                  [&] { return compared(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt); });
}
Emitted operator<=(const Emitted& a, const Emitted& b) {
  return known_or(a, a.range.high <= b.range.low, a.range.low > b.range.high,
                  [&] { return compared(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle); });
}
Emitted operator>(const Emitted& a, const Emitted& b) { return b < a; }
Emitted operator>=(const Emitted& a, const Emitted& b) { return b <= a; }
Emitted operator==(const Emitted& a, const Emitted& b) {
  if (a.is_boolean()) return !(a != b);
  return known_or(a, is_single(a) && a.range == b.range, a.range.high < b.range.low || b.range.high < a.range.low,
                  [&] { return compared(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq); });
}
Emitted operator!=(const Emitted& a, const Emitted& b) {
  return a.is_boolean() ? Emitted{a.builder, a.builder->createOrFold<arith::XOrIOp>(a.value, b.value), {}} : !(a == b);
}

Emitted operator&&(const Emitted& a, const Emitted& b) {
  if (const auto known = known_truth(a)) return *known ? b : a;
  if (const auto known = known_truth(b)) return *known ? a : b;
  return {a.builder, a.builder->createOrFold<arith::AndIOp>(a.value, b.value), {}};
}
Emitted operator||(const Emitted& a, const Emitted& b) {
  if (const auto known = known_truth(a)) return *known ? a : b;
  if (const auto known = known_truth(b)) return *known ? b : a;
  return {a.builder, a.builder->createOrFold<arith::OrIOp>(a.value, b.value), {}};
}
Emitted operator!(const Emitted& a) {
  if (const auto known = known_truth(a)) return Emitted::boolean(*a.builder, !*known);
  return {a.builder, a.builder->createOrFold<arith::XOrIOp>(a.value, Emitted::boolean(*a.builder, true).value), {}};
}
Emitted select(const Emitted& condition, const Emitted& a, const Emitted& b) {
  if (const auto known = known_truth(condition)) return *known ? a : b;
  Builder& builder = *condition.builder;
  if (!a.is_integer()) return {&builder, builder.createOrFold<arith::SelectOp>(condition.value, a.value, b.value), {}};
  const bool is_small = is_narrow(a) && is_narrow(b);
  const Value chosen = builder.createOrFold<arith::SelectOp>(condition.value, is_small ? a.value : wide(a), is_small ? b.value : wide(b));
  return Emitted::of(builder, chosen, {std::min(a.range.low, b.range.low), std::max(a.range.high, b.range.high)});
}

Value instruction(Builder& builder, llvm::StringRef name, Value x) {
  return mlir::LLVM::CallIntrinsicOp::create(builder, builder.getF32Type(), builder.getStringAttr(name), mlir::ValueRange{x}).getResult(0);
}

Emitted exp(const Emitted& x) { return function<mlir::math::ExpOp>(x); }
Emitted log(const Emitted& x) { return function<mlir::math::LogOp>(x); }
Emitted sqrt(const Emitted& x) { return function<mlir::math::SqrtOp>(x); }
Emitted rsqrt(const Emitted& x) { return Emitted::real(*x.builder, 1) / sqrt(x); }
Emitted pow(const Emitted& a, const Emitted& b) {
  return {a.builder, a.builder->createOrFold<mlir::math::PowFOp>(to_real(a).value, to_real(b).value), {}};
}
Emitted is_near_zero(const Emitted& x) { return abs(x) < Emitted::real(*x.builder, 0.55); }
Emitted tanh_near_zero(const Emitted& x) {
  // tanh x - x is x^3 q(x^2): a minimax polynomial on [0, 0.55], relative error of tanh 3.7e-8.
  const Emitted square = x * x;
  return fused(x, square * polynomial(square, {0.0164375, -0.05267177, 0.13320724, -0.33332947}), x);
}
Emitted tanh(const Emitted& x) {
  Builder& builder = *x.builder;
  const Emitted real = to_real(x), size = abs(real), one = Emitted::real(builder, 1);
  // 1 - 2 / (1 + e^(2 |x|)) is 1/2 and more there, so that the instructions' errors (2 ulp and 1 ulp of what is subtracted) stay as small.
  const double two_log2_e = 2.8853900817779268;
  const Emitted power = {&builder, instruction(builder, exp2_approx, (size * Emitted::real(builder, two_log2_e)).value), {}};
  const Emitted far = fused(Emitted::real(builder, -2), reciprocal(one + power), one);
  const Emitted signed_far = {&builder, builder.createOrFold<mlir::math::CopySignOp>(far.value, real.value), {}};
  return select(is_near_zero(real), tanh_near_zero(real), signed_far);
}
/// 1 / (1 + exp(-x)): exp(-x) is infinite for the least x, and the quotient 0.
Emitted sigmoid(const Emitted& x) { return reciprocal(Emitted::real(*x.builder, 1) + exp(-to_real(x))); }
Emitted erf(const Emitted& x) { return function<mlir::math::ErfOp>(x); }
Emitted sin(const Emitted& x) { return function<mlir::math::SinOp>(x); }
Emitted cos(const Emitted& x) { return function<mlir::math::CosOp>(x); }
Emitted floor(const Emitted& x) { return function<mlir::math::FloorOp>(x); }

Emitted to_real(const Emitted& x) {
  if (x.is_real()) return x;
  if (x.is_boolean()) return select(x, Emitted::real(*x.builder, 1), Emitted::real(*x.builder, 0));
  return {x.builder, x.builder->createOrFold<arith::SIToFPOp>(x.builder->getF32Type(), x.value), {}};
}
Emitted to_i64(const Emitted& x) {
  Builder& builder = *x.builder;
  if (x.is_boolean()) return select(x, Emitted::integer(builder, 1), Emitted::integer(builder, 0));
  if (x.is_integer()) return x;
  constexpr Integer limit = Integer{1} << 62;
  const Emitted low = Emitted::real(builder, -0x1p62), high = Emitted::real(builder, 0x1p62), above = select(low < x, x, low);
  const Emitted within = select(above < high, above, high);
  return Emitted::of(builder, builder.createOrFold<arith::FPToSIOp>(builder.getI64Type(), within.value), {-limit, limit});
}

Emitted constant_like(const Emitted& x, double value) {
  if (x.is_real()) return Emitted::real(*x.builder, value);
  return x.is_boolean() ? Emitted::boolean(*x.builder, value != 0) : Emitted::integer(*x.builder, static_cast<Integer>(value));
}
bool is_certain(const Emitted& condition) { return known_truth(condition).value_or(false); }
double function_error(const Emitted&) { return 0x1p-20; }

Interval<Emitted> after_sum(const Interval<Emitted>& sum, const Interval<Emitted>& a, const Interval<Emitted>& b) {
  Builder& builder = *sum.low.builder;
  if (sum.low.is_integer())
    return {is_unbounded(a.low) || is_unbounded(b.low) ? Emitted::integer(builder, least) : sum.low,
            is_unbounded(a.high) || is_unbounded(b.high) ? Emitted::integer(builder, greatest) : sum.high};
  const Emitted zero = Emitted::real(builder, 0), largest = maximum(maximum(a.high, -a.low), maximum(b.high, -b.low));
  const Emitted error = largest * Emitted::real(builder, function_error(largest));
  const Emitted low = sum.low - error, high = sum.high + error;  // but a sum of numbers of one sign has that sign
  return {select(a.low >= zero && b.low >= zero, maximum(low, zero), low), select(a.high <= zero && b.high <= zero, minimum(high, zero), high)};
}
Interval<Emitted> after_product(const Interval<Emitted>& product, const Interval<Emitted>& a, const Interval<Emitted>& b) {
  if (product.low.is_real()) return detail::after_function(product);
  Builder& builder = *product.low.builder;
  const bool is_known = is_single(product.low) && is_single(product.high);  // constants have been multiplied without wrapping
  const bool is_bounded = !(is_unbounded(a.low) || is_unbounded(a.high) || is_unbounded(b.low) || is_unbounded(b.high));
  return is_known || is_bounded ? product : Interval<Emitted>{Emitted::integer(builder, least), Emitted::integer(builder, greatest)};
}
Emitted corner(const Emitted& a, const Emitted& b) { return a.is_real() ? detail::corner<Emitted>(a, b) : a * b; }
Interval<Emitted> to_i64(const Interval<Emitted>& x) { return {to_i64(x.low), x.high.is_real() ? -to_i64(-x.high) : to_i64(x.high)}; }

}  // namespace attune::tensor_cores
