#include <cstdint>
#include <utility>

#include "codegen/halide/numbers/lowered.h"
#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"

using Halide::cast;
using Halide::Expr;
using Halide::Float;
using Halide::Int;

namespace attune {
namespace {

/// A function of x.
Lowered function(const Lowered& x, Expr value) { return {std::move(value), {}, x.may_be_special}; }

}  // namespace

Lowered exp(const Lowered& x) { return function(x, vector_math::exp(to_real(x).expr)); }
Lowered log(const Lowered& x) { return function(x, vector_math::log(to_real(x).expr)); }
Lowered sqrt(const Lowered& x) { return function(x, Halide::sqrt(to_real(x).expr)); }
Lowered rsqrt(const Lowered& x) { return Lowered::real(1) / sqrt(x); }
Lowered pow(const Lowered& a, const Lowered& b) {
  const Lowered base = to_real(a), exponent = to_real(b);
  if (Halide::Internal::as_const_float(exponent.expr) == 2) return base * base;
  return {vector_math::pow(base.expr, exponent.expr), {}, base.may_be_special || exponent.may_be_special};
}
Lowered tanh(const Lowered& x) { return function(x, vector_math::tanh(to_real(x).expr)); }
Lowered sigmoid(const Lowered& x) { return function(x, vector_math::sigmoid(to_real(x).expr)); }
Lowered erf(const Lowered& x) { return function(x, vector_math::erf(to_real(x).expr)); }
Lowered sin(const Lowered& x) { return function(x, vector_math::sin(to_real(x).expr)); }
Lowered cos(const Lowered& x) { return function(x, vector_math::cos(to_real(x).expr)); }
Lowered floor(const Lowered& x) { return function(x, Halide::floor(to_real(x).expr)); }

Lowered to_real(const Lowered& x) {
  if (x.is_boolean()) return {Halide::select(x.expr, 1.f, 0.f)};
  return x.is_real() ? x : Lowered{cast(Float(32), x.expr), {}, false, x.load};
}

Lowered to_i64(const Lowered& x) {
  if (x.is_boolean()) return Lowered::of(Halide::select(x.expr, 1, 0), {0, 1});
  if (x.is_integer()) return x;
  const float limit = 0x1p62f;
  const Expr above = Halide::select(strict_less(-limit, x.expr), x.expr, -limit);
  // Promised, since Halide takes a cast of a real for unbounded, and then names its bounds by variables of no number's type.
  constexpr std::int64_t most = std::int64_t{1} << 62;
  const Expr least = Halide::Internal::make_const(Int(64), -most), greatest = Halide::Internal::make_const(Int(64), most);
  // The limit is chosen behind the cast: of a cast to unsigned numbers of this cast Halide 21 makes one of the real.
  const Expr number = Halide::select(strict_less(above, limit), cast(Int(64), above), greatest);
  return Lowered::of(Halide::unsafe_promise_clamped(number, least, greatest), {-most, most});
}

}  // namespace attune
