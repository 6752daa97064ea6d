// Coefficients are from Sollya 8: fpminimax(f, monomials, [|SG...|], range, ...) unless a comment says otherwise. "Error" is that
// of the polynomial against f, without the rounding of its evaluation.
//
// Halide lets LLVM contract, reorder and take everything for finite in all but strict nodes; and LLVM reorders a fast operation with
// its strict operand, too. So strict is every addition, product and comparison whose order matters, with what is done to its result;
// the polynomials between are fast, which makes them FMAs. Infinities are told by bits: LLVM folds comparisons of what it takes for
// finite.
#include "codegen/halide/numbers/vector_math.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/rewrites/rare_lanes.h"

using Halide::Expr;
using Halide::reinterpret;
using Halide::select;

namespace attune {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float log2_e = 1.44269502f;
/// ln 2 in two parts; the first has 15 bits, so that its product with a whole number below 2^9 is exact.
constexpr float ln2_high = 0.693145751953125f, ln2_low = 1.42860677e-6f;
/// x + rounder - rounder is x rounded to a whole number, for |x| < 2^22; the low bits of x + rounder hold that number.
constexpr float rounder = 12582912.f;
constexpr std::uint32_t all_but_sign = 0x7fffffffu;

// Unsigned, because Halide multiplies instead of shifting, and a signed product must not wrap.
Expr bits(const Expr& x) { return reinterpret<std::uint32_t>(x); }
Expr from_bits(const Expr& x) { return reinterpret<float>(x); }
Expr magnitude(const Expr& x) { return from_bits(bits(x) & all_but_sign); }
Expr sign_bit(const Expr& x) { return bits(x) & Expr(~all_but_sign); }

// Strict selects like these are one vmaxps or vminps that passes NaN on, where max() and min() drop it.
Expr at_least(float low, const Expr& x) { return select(strict_less(x, low), low, x); }
Expr at_most(float high, const Expr& x) { return select(strict_less(high, x), high, x); }

/// c0 x^n + c1 x^(n-1) + ... + cn
Expr polynomial(const Expr& x, std::initializer_list<float> coefficients) {
  Expr sum;
  for (float c : coefficients) sum = sum.defined() ? sum * x + c : Expr(c);
  return sum;
}

/// mantissa * 2^n, where `shifted` = n + rounder + 254; in two steps, because 2^n alone may be too large or too small for an f32.
Expr scaled(const Expr& mantissa, const Expr& shifted) {
  const Expr n = bits(shifted), half = n >> 1;
  return strict_multiply(mantissa * from_bits(half << 23), from_bits((n - half) << 23));
}

/// x - n ln 2, exact but for one rounding.
Expr without_multiples_of_ln2(const Expr& x, const Expr& n) {
  return strict_subtract(strict_subtract(x, strict_multiply(n, ln2_high)), strict_multiply(n, ln2_low));
}

/// x >= 0 without its multiples of pi/2, the sum of `rest` (to half an ulp, from -0.85 to 0.85) and a small `low`; the number of those
/// multiples, modulo 4, is in the low bits of `count`.
struct Quadrant {
  Expr rest, low, count;
};

constexpr float most_for_fma = 0x1p20f;

/// For x <= most_for_fma, where FMAs are made of products and sums: their products with the parts of pi/2 are exact.
Quadrant quadrant_by_fma(const Expr& x) {
  const Expr shifted = x * 0.636619747f + rounder;
  const Expr n = strict_subtract(shifted, rounder);
  // The first difference is exact: n has 20 bits, the part of pi/2 ends at 2^-23. What is selected is never -2: LLVM may not join it
  // to the next step, which would add up the parts of pi/2.
  const Expr first = at_least(-2.f, x - n * 0x1.921fb6p+0f);
  return {first + n * 0x1.777a5cp-25f, n * 0x1.ee59dap-50f, bits(shifted)};
}

/// The sum of two numbers, the second up to half an ulp of the first.
struct Pair {
  Expr high, low;
};

/// a + b exactly, where a is 0 or the larger.
Pair exact_sum(const Expr& a, const Expr& b) {
  const Expr sum = strict_add(a, b);
  return {sum, strict_subtract(b, strict_subtract(sum, a))};
}

/// a * b exactly, by halves of 12 bits (Dekker 1971).
Pair exact_product(const Expr& a, const Expr& b) {
  const auto upper = [](const Expr& x) { return from_bits(bits(x) & Expr(0xfffff000u)); };
  const Expr p = strict_multiply(a, b), a1 = upper(a), b1 = upper(b), a2 = strict_subtract(a, a1), b2 = strict_subtract(b, b1);
  const Expr middle = strict_add(strict_add(strict_subtract(strict_multiply(a1, b1), p), strict_multiply(a1, b2)), strict_multiply(a2, b1));
  return {p, strict_add(middle, strict_multiply(a2, b2))};
}

/// x > 0 as 2^exponent m, m from a least number to twice that.
struct Parts {
  Expr exponent, m;
};

Parts parts_of(const Expr& x, std::uint32_t bits_of_least) {
  const Expr is_tiny = strict_less(x, std::numeric_limits<float>::min());
  const Expr i = bits(select(is_tiny, strict_multiply(x, 8388608.f), x));
  const Expr e = (i - Expr(bits_of_least)) & Expr(0xff800000u);
  return {Halide::cast<float>(reinterpret<std::int32_t>(e) >> 23) - select(is_tiny, 23.f, 0.f), from_bits(i - e)};
}

/// ln x of a finite x > 0, relative error below 4e-9: 2 artanh s + exponent ln 2 with s = (m - 1) / (m + 1), which is divided with a rest.
Pair accurate_log(const Expr& x) {
  const Parts parts = parts_of(x, 0x3f3504f3);  // the root of 1/2: the sum below loses least
  const Expr f = strict_subtract(parts.m, 1.f), d = strict_add(parts.m, 1.f), d_low = strict_subtract(parts.m, strict_subtract(d, 1.f));
  const Expr s = strict_divide(f, d);
  const Pair back = exact_product(s, d);
  const Expr rest = strict_subtract(strict_subtract(strict_subtract(f, back.high), back.low), strict_multiply(s, d_low));
  const Expr s2 = s * s;
  // artanh s = s + s^3 (1/3 + s^2/5 ...): |s| is at most 0.172, and the next term below 1e-9 of the result.
  const Expr series = s * s2 * polynomial(s2, {2.f / 11, 2.f / 9, 2.f / 7, 2.f / 5, 2.f / 3});
  const Pair sum = exact_sum(strict_multiply(parts.exponent, ln2_high), strict_multiply(s, 2.f));
  return exact_sum(sum.high, strict_add(sum.low, series + 2.f * strict_divide(rest, d) + parts.exponent * ln2_low));
}

/// 32 bits of 2 / pi from the place `shift`, 0 to 31, in `words[0]`, the first of two.
Expr funnel(const Expr& high, const Expr& low, const Expr& shift) { return (high << shift) | ((low >> 1) >> (Expr(31u) - shift)); }

/// The upper 32 bits of a product.
Expr upper_product(const Expr& a, const Expr& b) { return Halide::cast<std::uint32_t>(Halide::widening_mul(a, b) >> 32); }

/// For any x, by the bits of 2 / pi that matter for its exponent (Payne and Hanek 1983): integers up to the last two products.
Quadrant quadrant_by_bits(const Expr& x) {
  // 34 zeros, and 2 / pi in binary.
  constexpr std::uint32_t two_by_pi[] = {0,           0x28be60dbu, 0x9391054au, 0x7f09d5f4u,
                                         0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0x7f9458eau};
  const Expr exponent = Halide::max(bits(x) >> 23, Expr(118u)) - Expr(118u);
  const Expr mantissa = (bits(x) & Expr(0x7fffffu)) | Expr(0x800000u);
  const Expr word = exponent >> 5, shift = exponent & Expr(31u);
  Expr from[4];  // the words of 2 / pi from `word` on
  for (std::size_t i = 0; i < 4; ++i) {
    from[i] = Expr(two_by_pi[i + 4]);
    for (std::size_t k = 4; k-- > 0;) from[i] = select(word == Expr(static_cast<std::uint32_t>(k)), Expr(two_by_pi[i + k]), from[i]);
  }
  const Expr first = funnel(from[0], from[1], shift), second = funnel(from[1], from[2], shift), third = funnel(from[2], from[3], shift);
  // x / (pi/2) modulo 4, times 2^62: what the product of the mantissa with these 96 bits has above its last 32.
  const Expr middle = mantissa * second, lower = middle + upper_product(mantissa, third);
  const Expr upper = mantissa * first + upper_product(mantissa, second) + select(lower < middle, Expr(1u), Expr(0u));
  const Expr count = (upper + Expr(0x20000000u)) >> 30;
  const Expr rest = reinterpret<std::int32_t>(upper - (count << 30));
  const Expr rounded = Halide::cast<float>(rest), rounding = Halide::cast<float>(rest - Halide::cast<std::int32_t>(rounded));
  const Expr below = rounding + Halide::cast<float>(reinterpret<std::int32_t>(lower >> 1)) * 0x1p-31f;
  // times pi/2 * 2^-30
  const Expr product = strict_multiply(rounded, 0x1.921fb6p-30f), low = below * 0x1.921fb6p-30f - rounded * 0x1.777a5cp-55f;
  const Expr sum = strict_add(product, low);
  const Expr is_small = x < 0.5f, nan_bits = select(bits(x) >= Expr(0x7f800000u), Expr(0x7fc00000u), Expr(0u));
  return {from_bits(bits(select(is_small, x, sum)) | nan_bits), select(is_small, 0.f, strict_subtract(low, strict_subtract(sum, product))),
          select(is_small, Expr(0u), count)};
}

/// The sine of q.rest + q.low where q.count is even and the cosine where it is odd; negative where the bit above says so.
Expr wave(const Quadrant& q) {
  const Expr r = q.rest, r2 = r * r;
  // sin on [-pi/4, pi/4], relative error 4.0e-9, on [-0.85, 0.85] 4.8e-8; cos, 1.2e-10 and 3e-9, where `low` is below its rounding.
  const Expr sine = strict_add(r, q.low + r * (r2 * polynomial(r2, {-1.95182845e-4f, 8.33218917e-3f, -0.166666552f})));
  const Expr cosine = polynomial(r2, {2.44325638e-5f, -1.38873106e-3f, 4.16666456e-2f, -0.5f, 1.f});
  return from_bits(bits(select((q.count & 1) == 0, sine, cosine)) ^ ((q.count & 2) << 30));
}

/// sin(x + quarters * pi/2) for x >= 0.
Expr wave(const Expr& x, std::uint32_t quarters) {
  const auto turned = [quarters](Quadrant q) {
    q.count = q.count + Expr(quarters);
    return wave(q);
  };
  const Expr is_beyond = reinterpret<std::int32_t>(x) > reinterpret<std::int32_t>(Expr(most_for_fma));  // and NaN
  return where_rare(is_beyond, turned(quadrant_by_bits(x)), turned(quadrant_by_fma(x)));
}

/// at_0 * 2^exponent + added * 2^n, n the rounded exponent; 0 where n is `least` or below. 1 + f * polynomial(f, slope) is 2^f on [-0.5, 0.5].
Expr exp2_to_zero(const Expr& exponent, int least, std::initializer_list<float> slope, float at_0 = 1, float added = 0) {
  const auto bias = static_cast<float>(-least);
  const Expr s = at_least(-bias, exponent);
  // The low bits are the biased exponent of power = 2^(n + bias - 127), and 0 at the least: so that comes out as 0.
  const Expr biased = strict_add(s, rounder + bias);
  const Expr f = strict_subtract(s, strict_subtract(biased, rounder + bias));
  // A product, not an addition to the exponent's bits: a NaN with a payload (0xffffffff is a common one) would wrap into a number.
  const Expr power = from_bits(bits(biased) << 23);
  // What the power lacks is in the coefficients; the product comes last, so that nothing on the way is below 2^-126, which some CPUs take long over.
  const float missing = std::ldexp(1.f, 127 + least);
  Expr sum;
  for (const float c : slope) sum = sum.defined() ? sum * f + c * at_0 * missing : Expr(c * at_0 * missing);
  return strict_multiply(power, sum * f + (at_0 + added) * missing);
}

}  // namespace

Expr softmax_exp2(const Expr& s, int least) {
  return exp2_to_zero(s, least, {0.001326472731f, 0.009671512991f, 0.05550733581f, 0.2402224243f, 0.6931470037f});  // error 1.1e-7
}

Expr softmax_exp2_as_bf16(const Expr& s_less_half, int least) {
  // Of 2^s the mantissa is 2^(1/2 + f), from 1 to 2: half the distance of bf16 numbers there is a constant, which is added to the polynomial's.
  constexpr float half_distance = 0x1p-8f, root_2 = 1.41421356f;
  // Least squares reweighted until the extrema were equal (Lawson), error 1.02e-4.
  const Expr weight = exp2_to_zero(s_less_half, least, {0.0550089329f, 0.242210969f, 0.693282902f}, root_2, half_distance);
  return Halide::cast<std::uint16_t>(bits(weight) >> 16);
}

namespace vector_math {

Expr exp(const Expr& exponent) {
  const Expr x = at_least(-105.f, at_most(89.f, exponent));  // e^-105 is 0 and e^89 infinite in an f32
  const Expr shifted = strict_add(x * log2_e, rounder + 254.f);
  const Expr r = without_multiples_of_ln2(x, strict_subtract(shifted, rounder + 254.f));
  // e^r on [-ln 2 / 2, ln 2 / 2], relative error 3.3e-9.
  return scaled(polynomial(r, {1.37825042e-3f, 8.36867467e-3f, 4.16689627e-2f, 0.166665211f, 0.499999911f, 1.f, 1.f}), shifted);
}

Expr exp2(const Expr& exponent) {
  const Expr x = at_least(-151.f, at_most(129.f, exponent));  // 2^-151 is 0 and 2^129 infinite in an f32
  const Expr shifted = strict_add(x, rounder + 254.f);
  const Expr f = strict_subtract(x, strict_subtract(shifted, rounder + 254.f));
  // 2^f on [-0.5, 0.5], relative error 3.6e-9.
  return scaled(polynomial(f, {1.52412846e-4f, 1.33913022e-3f, 9.61883366e-3f, 5.55035882e-2f, 0.240226448f, 0.693147182f, 1.f}), shifted);
}

Expr log(const Expr& x) {
  const Parts parts = parts_of(x, 0x3f2aaaab);  // 2/3
  const Expr f = strict_subtract(parts.m, 1.f), exponent = parts.exponent;
  // ln(1 + f) = f + f^2 q(f), relative error 4.9e-9.
  const Expr q = polynomial(
      f, {-0.128322482f, 0.140027776f, -0.121986270f, 0.140016198f, -0.166793838f, 0.200107142f, -0.249998242f, 0.333332092f, -0.5f});
  const Expr result = exponent * 0.693147182f + strict_add(f, f * f * q);
  const Expr beyond = select((bits(x) & all_but_sign) == 0, -infinity, select(sign_bit(x) != 0, nan, x));
  const Expr is_positive_and_finite = bits(x) - 1 < 0x7f7fffff;
  return select(is_positive_and_finite, result, beyond);
}

Expr pow(const Expr& a, const Expr& b) {
  const Expr size = magnitude(a), b_size = bits(b) & all_but_sign;
  const Pair log = accurate_log(size), product = exact_product(b, log.high);
  // Where the power is not 0 or infinite, `low` is small: e^(high + low) = e^high (1 + low).
  const Expr low = select(strict_less(magnitude(product.high), 200.f), strict_add(product.low, strict_multiply(b, log.low)), 0.f);
  const Expr power = strict_multiply(vector_math::exp(product.high), strict_add(1.f, low));
  const Expr one = bits(Expr(1.f)), infinite = Expr(0x7f800000u), not_a_number = Expr(0x7fc00000u);
  const Expr half = strict_multiply(b, 0.5f), is_negative = sign_bit(a) != 0;
  const Expr is_whole = strict_equal(Halide::floor(b), b), is_odd = is_whole && !strict_equal(Halide::floor(half), half);
  const Expr is_limit = bits(size) == 0 || bits(size) == infinite;
  // By bits, which LLVM does not take for finite.
  Expr result = select(is_limit, select((bits(size) == 0) == (sign_bit(b) != 0), infinite, Expr(0u)), bits(power));
  result = select(is_negative && is_odd, result | Expr(~all_but_sign), result);
  result = select(is_negative && !is_whole && !is_limit, not_a_number, result);
  result = select(bits(size) > infinite || b_size > infinite, not_a_number, result);
  return from_bits(select(b_size == 0 || bits(a) == one || (bits(size) == one && b_size == infinite), one, result));
}

Expr tanh(const Expr& x) {
  // tanh |x| = -m / (2 + m) with m = e^(-2 |x|) - 1 = 2^n (e^r - 1) + (2^n - 1): no digits are lost near 0. From |x| = 10 on m is -1.
  const Expr y = -2.f * at_most(10.f, magnitude(x));
  const Expr biased = strict_add(y * log2_e, rounder + 127.f);
  const Expr r = without_multiples_of_ln2(y, strict_subtract(biased, rounder + 127.f));
  // e^r - 1 on [-ln 2 / 2, ln 2 / 2], relative error 1.4e-8.
  const Expr q = r * r * polynomial(r, {1.38645561e-3f, 8.36653914e-3f, 4.16675024e-2f, 0.166665435f, 0.49999997f}) + r;
  const Expr power = from_bits(bits(biased) << 23);
  const Expr m = strict_add(q * power, strict_subtract(power, 1.f));
  return from_bits((bits(strict_divide(m, strict_add(2.f, m))) & all_but_sign) | sign_bit(x));
}

Expr sigmoid(const Expr& x) {
  const Expr denominator = strict_add(1.f, vector_math::exp(-x));
  return strict_divide(1.f, denominator);
}

Expr erf(const Expr& x) {
  const Expr a = at_most(4.f, magnitude(x)), a2 = a * a;
  // erf on [0, 0.925], relative error 1.1e-9.
  const Expr near = strict_add(
      a, a * polynomial(a2, {8.18818226e-5f, -8.09359248e-4f, 5.19597763e-3f, -2.6856944e-2f, 0.112836398f, -0.376126289f, 0.128379166f}));
  // log2(1 - erf) on [0.92, 4], by remez weighted with 1 - erf and rounded: error of erf 6.5e-9. 1 - erf(4) is below half an ulp of 1.
  const Expr far = strict_subtract(1.f, softmax_exp2(polynomial(a, {2.81247223e-4f, -4.37667919e-3f, 3.20130289e-2f, -0.149832979f,
                                                                    -0.919380248f, -1.62682235f, -2.9866377e-4f})));
  return from_bits(bits(select(strict_less(a, 0.9225f), near, far)) | sign_bit(x));
}

Expr sin(const Expr& x) { return from_bits(bits(wave(magnitude(x), 0)) ^ sign_bit(x)); }

Expr cos(const Expr& x) { return wave(magnitude(x), 1); }

// Each strict select is one vmaxps or vminps that gives its second operand when one is NaN: of the two, at least one is NaN then,
// and the "or" of NaN with any bits is NaN.
Expr maximum(const Expr& a, const Expr& b) {
  return from_bits(bits(select(strict_less(b, a), a, b)) | bits(select(strict_less(a, b), b, a)));
}

Expr minimum(const Expr& a, const Expr& b) {
  return from_bits(bits(select(strict_less(a, b), a, b)) | bits(select(strict_less(b, a), b, a)));
}

}  // namespace vector_math
}  // namespace attune
