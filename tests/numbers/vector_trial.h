/// Where tests evaluate functions of vectors, at which special numbers, and how they compare what comes out.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace attune::vector_trial {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
/// NaN with either sign and with payloads; memory that was never written often holds the fourth.
inline constexpr float nans[] = {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                                 std::bit_cast<float>(0x7fc00001u), std::bit_cast<float>(0xffffffffu), std::bit_cast<float>(0x7fffffffu)};
inline constexpr float quiet_nan = nans[0];

/// The host, and the host without AVX-512 where it has it.
inline std::vector<Halide::Target> targets() {
  using Halide::Target;
  const Target host = Halide::get_jit_target_from_environment();
  std::vector<Target> all = {host};
  const std::vector<Target::Feature> avx2 = {Target::SSE41, Target::AVX, Target::AVX2, Target::FMA, Target::F16C, Target::JIT};
  if (host.has_feature(Target::AVX512)) all.emplace_back(host.os, host.arch, host.bits, avx2);
  return all;
}

inline Halide::Func vectorised(const Halide::Expr& value, const Halide::Var& i) {
  Halide::Func f("f");
  f(i) = value;
  f.vectorize(i, 16, Halide::TailStrategy::GuardWithIf);
  return f;
}

/// |got - exact| in units of the last place of an f32 like `exact`; infinity where only one of them is NaN or beyond f32.
inline double ulps(float got, double exact, bool may_flush) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : infinity;
  const double beyond = std::ldexp(1.0, 128) - std::ldexp(1.0, 102);  // from here on, rounding gives infinity; one ulp below is as good
  if (std::isinf(got)) return std::abs(exact) >= beyond - std::ldexp(1.0, 104) && (got > 0) == (exact > 0) ? 0 : infinity;
  if (may_flush && got == 0 && std::abs(exact) < std::numeric_limits<float>::min()) return 0;
  if (exact == 0) return got == 0 ? 0 : infinity;
  return std::abs(got - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}

/// Equal, -0 and 0 told apart, any NaN like any other.
inline bool is_same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace attune::vector_trial
