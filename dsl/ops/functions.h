/// Functions of a real, elementwise; an integer operand becomes real. Kernels compute those with `roundings` of 2 n to n ulp of f32.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

// Each `apply` says what it returns by the call that it makes: so whoever applies it to numbers of a kind knows before whether they have that
// function (HasForm), and says what is missing.
namespace detail::forms {
using std::exp, std::log, std::sqrt, std::pow, std::tanh, std::erf, std::sin, std::cos, std::floor;
inline constexpr auto exp_of = [](auto... a) -> decltype(exp(a...)) { return exp(a...); };
inline constexpr auto log_of = [](auto... a) -> decltype(log(a...)) { return log(a...); };
inline constexpr auto sqrt_of = [](auto... a) -> decltype(sqrt(a...)) { return sqrt(a...); };
inline constexpr auto pow_of = [](auto... a) -> decltype(pow(a...)) { return pow(a...); };
inline constexpr auto tanh_of = [](auto... a) -> decltype(tanh(a...)) { return tanh(a...); };
inline constexpr auto erf_of = [](auto... a) -> decltype(erf(a...)) { return erf(a...); };
inline constexpr auto sin_of = [](auto... a) -> decltype(sin(a...)) { return sin(a...); };
inline constexpr auto cos_of = [](auto... a) -> decltype(cos(a...)) { return cos(a...); };
inline constexpr auto floor_of = [](auto... a) -> decltype(floor(a...)) { return floor(a...); };
}  // namespace detail::forms

struct Exp {
  static constexpr std::string_view name = "exp", meaning = "exp(a)";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::exp_of(a)) { return detail::forms::exp_of(a); }
};

struct Log {
  static constexpr std::string_view name = "log", meaning = "the natural logarithm of a; NaN below 0, -inf at 0";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::log_of(a)) { return detail::forms::log_of(a); }
};

struct Sqrt {
  static constexpr std::string_view name = "sqrt", meaning = "the square root of a; NaN below 0";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::sqrt_of(a)) { return detail::forms::sqrt_of(a); }
};

struct Rsqrt {
  static constexpr std::string_view name = "rsqrt", meaning = "1 / sqrt(a); inf at 0, -inf at -0, NaN below";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(rsqrt(a)) { return rsqrt(a); }
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
};

struct Tanh {
  static constexpr std::string_view name = "tanh", meaning = "tanh(a)";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::tanh_of(a)) { return detail::forms::tanh_of(a); }
};

struct Erf {
  static constexpr std::string_view name = "erf", meaning = "2 / sqrt(pi) * the integral of exp(-t^2) from 0 to a";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::erf_of(a)) { return detail::forms::erf_of(a); }
};

struct Sin {
  static constexpr std::string_view name = "sin", meaning = "sin(a), a in radians; within 2 ulp for every a. Angles of positions: rotary_angle";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::sin_of(a)) { return detail::forms::sin_of(a); }
};

struct Cos {
  static constexpr std::string_view name = "cos", meaning = "cos(a), a in radians; within 2 ulp for every a. Angles of positions: rotary_angle";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::cos_of(a)) { return detail::forms::cos_of(a); }
};

struct Sigmoid {
  static constexpr std::string_view name = "sigmoid", meaning = "1 / (1 + exp(-a))";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(sigmoid(a)) { return sigmoid(a); }
};

struct Floor {
  static constexpr std::string_view name = "floor", meaning = "the largest whole number not above a, a real. ceil(a) and round(a), halves to the even neighbour, are made of it";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::floor_of(a)) { return detail::forms::floor_of(a); }
};

constexpr Value exp(Value a, Here at = Here::current()) { return call(Exp{}, {a}, at); }
constexpr Value log(Value a, Here at = Here::current()) { return call(Log{}, {a}, at); }
constexpr Value sqrt(Value a, Here at = Here::current()) { return call(Sqrt{}, {a}, at); }
constexpr Value rsqrt(Value a, Here at = Here::current()) { return call(Rsqrt{}, {a}, at); }
constexpr Value pow(Operand a, Operand b) { return binary<Pow>(a, b); }
constexpr Value tanh(Value a, Here at = Here::current()) { return call(Tanh{}, {a}, at); }
constexpr Value erf(Value a, Here at = Here::current()) { return call(Erf{}, {a}, at); }
constexpr Value sin(Value a, Here at = Here::current()) { return call(Sin{}, {a}, at); }
constexpr Value cos(Value a, Here at = Here::current()) { return call(Cos{}, {a}, at); }
constexpr Value sigmoid(Value a, Here at = Here::current()) { return call(Sigmoid{}, {a}, at); }
constexpr Value floor(Value a, Here at = Here::current()) { return call(Floor{}, {a}, at); }

}  // namespace attune
