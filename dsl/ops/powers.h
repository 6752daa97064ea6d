/// Powers of a real, elementwise, and their logarithm; an integer operand becomes real. Kernels compute those with `roundings` of 2 n to n ulp of f32.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

// Each `apply` says what it returns by the call that it makes: so whoever applies it to numbers of a kind knows before whether they have that
// function (HasForm), and says what is missing.
namespace detail::forms {
using std::exp, std::log, std::sqrt, std::pow;
inline constexpr auto exp_of = [](auto... a) -> decltype(exp(a...)) { return exp(a...); };
inline constexpr auto log_of = [](auto... a) -> decltype(log(a...)) { return log(a...); };
inline constexpr auto sqrt_of = [](auto... a) -> decltype(sqrt(a...)) { return sqrt(a...); };
inline constexpr auto pow_of = [](auto... a) -> decltype(pow(a...)) { return pow(a...); };
}  // namespace detail::forms

struct Exp {
  static constexpr std::string_view name = "exp", meaning = "exp(a)";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::exp_of(a)) { return detail::forms::exp_of(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.out * g.y; }); }
};

struct Log {
  static constexpr std::string_view name = "log", meaning = "the natural logarithm of a; NaN below 0, -inf at 0";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::log_of(a)) { return detail::forms::log_of(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.out / g.in(0); }); }
};

struct Sqrt {
  static constexpr std::string_view name = "sqrt", meaning = "the square root of a; NaN below 0";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::sqrt_of(a)) { return detail::forms::sqrt_of(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return 0.5 * g.out / g.y; }); }
};

struct Rsqrt {
  static constexpr std::string_view name = "rsqrt", meaning = "1 / sqrt(a); inf at 0, -inf at -0, NaN below";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(rsqrt(a)) { return rsqrt(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return -0.5 * g.out * g.y * g.y * g.y; }); }
};

struct Pow {
  static constexpr std::string_view name = "pow",
                                    meaning = "a to the power of b, as C's pow: a negative a has powers of whole b alone, NaN otherwise; 1 where b is 0 or "
                                              "a is 1, whatever the other is. Kernels are within 6 ulp";
  static constexpr int arity = 2;
  static constexpr double roundings = 12;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(detail::forms::pow_of(a, b)) { return detail::forms::pow_of(a, b); }
  /// Of b where a is positive.
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return g.out * g.in(1) * pow(g.in(0), g.in(1) - 1); });
    g.add(1, [&] { return select(g.in(0) > 0, g.out * g.y * log(g.in(0)), 0.0); });
  }
};

constexpr Value exp(Value a, Here at = Here::current()) { return call(Exp{}, {a}, at); }
constexpr Value log(Value a, Here at = Here::current()) { return call(Log{}, {a}, at); }
constexpr Value sqrt(Value a, Here at = Here::current()) { return call(Sqrt{}, {a}, at); }
constexpr Value rsqrt(Value a, Here at = Here::current()) { return call(Rsqrt{}, {a}, at); }
constexpr Value pow(Operand a, Operand b) { return binary<Pow>(a, b); }

}  // namespace attune
