#include "codegen/vector_math.h"

#include <cstdint>
#include <initializer_list>

#include "codegen/strict.h"

using Halide::Expr;
using Halide::reinterpret;
using Halide::select;

namespace attune {
namespace {

/// c0 x^n + c1 x^(n-1) + ... + cn
Expr polynomial(const Expr& x, std::initializer_list<float> coefficients) {
  Expr sum;
  for (float c : coefficients) sum = sum.defined() ? sum * x + c : Expr(c);
  return sum;
}

}  // namespace

Expr softmax_exp2(const Expr& exponent) {
  // A strict select is one vmaxps that passes NaN on, where max() drops it.
  const Expr s = select(strict_less(exponent, -127.f), -127.f, exponent);
  // Adding 1.5 * 2^23 + 127 leaves round(s) + 127, the biased exponent, in the lowest bits; it is 0 at -127, so 2^-127 comes out as 0.
  const float rounder = 12582912.f + 127.f;
  const Expr biased = strict_add(s, rounder);
  const Expr f = s - strict_subtract(biased, rounder);
  const Expr mantissa = polynomial(f, {0.001326472731f, 0.009671512991f, 0.05550733581f, 0.2402224243f, 0.6931470037f, 1.f});
  // A product, not an addition to the exponent's bits: a NaN with a payload (0xffffffff is a common one) would wrap into a number.
  return mantissa * reinterpret<float>(reinterpret<std::int32_t>(biased) << 23);
}

}  // namespace attune
