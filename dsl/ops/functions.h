/// Functions of a real, elementwise; an integer operand becomes real. Kernels compute those with `roundings` of 2 n to n ulp of f32.
#pragma once

#include "dsl/ops/powers.h"

namespace attune {

namespace detail::forms {
using std::tanh, std::erf, std::sin, std::cos, std::floor;
inline constexpr auto tanh_of = [](auto... a) -> decltype(tanh(a...)) { return tanh(a...); };
inline constexpr auto erf_of = [](auto... a) -> decltype(erf(a...)) { return erf(a...); };
inline constexpr auto sin_of = [](auto... a) -> decltype(sin(a...)) { return sin(a...); };
inline constexpr auto cos_of = [](auto... a) -> decltype(cos(a...)) { return cos(a...); };
inline constexpr auto floor_of = [](auto... a) -> decltype(floor(a...)) { return floor(a...); };
}  // namespace detail::forms

struct Tanh {
  static constexpr std::string_view name = "tanh", meaning = "tanh(a)";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::tanh_of(a)) { return detail::forms::tanh_of(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.out * (1 - g.y * g.y); }); }
};

struct Erf {
  static constexpr std::string_view name = "erf", meaning = "2 / sqrt(pi) * the integral of exp(-t^2) from 0 to a";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::erf_of(a)) { return detail::forms::erf_of(a); }
  /// 2 / sqrt(pi) exp(-a^2)
  constexpr void pull(auto& g) const { g.add(0, [&] { return 1.1283791670955126 * g.out * exp(-g.in(0) * g.in(0)); }); }
};

struct Sin {
  static constexpr std::string_view name = "sin", meaning = "sin(a), a in radians; within 2 ulp for every a. Angles of positions: rotary_angle";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::sin_of(a)) { return detail::forms::sin_of(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.out * cos(g.in(0)); }); }
};

struct Cos {
  static constexpr std::string_view name = "cos", meaning = "cos(a), a in radians; within 2 ulp for every a. Angles of positions: rotary_angle";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::cos_of(a)) { return detail::forms::cos_of(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return -g.out * sin(g.in(0)); }); }
};

struct Sigmoid {
  static constexpr std::string_view name = "sigmoid", meaning = "1 / (1 + exp(-a))";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(sigmoid(a)) { return sigmoid(a); }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.out * g.y * (1 - g.y); }); }
};

struct Floor {
  static constexpr std::string_view name = "floor", meaning = "the largest whole number not above a, a real. ceil(a) and round(a), halves to the even neighbour, are made of it";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::floor_of(a)) { return detail::forms::floor_of(a); }
  /// 0 wherever there is one.
  constexpr void pull(auto&) const {}
};

constexpr Value tanh(Value a, Here at = Here::current()) { return call(Tanh{}, {a}, at); }
constexpr Value erf(Value a, Here at = Here::current()) { return call(Erf{}, {a}, at); }
constexpr Value sin(Value a, Here at = Here::current()) { return call(Sin{}, {a}, at); }
constexpr Value cos(Value a, Here at = Here::current()) { return call(Cos{}, {a}, at); }
constexpr Value sigmoid(Value a, Here at = Here::current()) { return call(Sigmoid{}, {a}, at); }
constexpr Value floor(Value a, Here at = Here::current()) { return call(Floor{}, {a}, at); }

}  // namespace attune
