/// Elementwise arithmetic: add, subtract, multiply, divide, floor_div, mod, negate, abs, minimum, maximum.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

struct Add {
  static constexpr std::string_view name = "add", meaning = "a + b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::arithmetic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a + b) { return a + b; }
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return g.out; });
    g.add(1, [&] { return g.out; });
  }
};

struct Subtract {
  static constexpr std::string_view name = "subtract", meaning = "a - b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::arithmetic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a - b) { return a - b; }
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return g.out; });
    g.add(1, [&] { return -g.out; });
  }
};

struct Multiply {
  static constexpr std::string_view name = "multiply", meaning = "a * b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::arithmetic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a * b) { return a * b; }
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return g.out * g.in(1); });
    g.add(1, [&] { return g.out * g.in(0); });
  }
};

struct Divide {
  static constexpr std::string_view name = "divide", meaning = "a / b, of reals";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::fractional;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a / b) { return a / b; }
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return g.out / g.in(1); });
    g.add(1, [&] { return -g.out * g.y / g.in(1); });
  }
};

struct FloorDiv {
  static constexpr std::string_view name = "floor_div", meaning = "the largest integer not above a / b; 0 where b is 0";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::integral;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(floor_div(a, b)) { return floor_div(a, b); }
};

struct Mod {
  static constexpr std::string_view name = "mod", meaning = "a - floor_div(a, b) * b, with the sign of b; 0 where b is 0";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::integral;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(mod(a, b)) { return mod(a, b); }
};

struct Negate {
  static constexpr std::string_view name = "negate", meaning = "-a";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::arithmetic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(-a) { return -a; }
  constexpr void pull(auto& g) const { g.add(0, [&] { return -g.out; }); }
};

namespace detail::forms {
using std::abs;
inline constexpr auto abs_of = [](auto a) -> decltype(abs(a)) { return abs(a); };
}  // namespace detail::forms

struct Abs {
  static constexpr std::string_view name = "abs", meaning = "|a|";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::arithmetic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(detail::forms::abs_of(a)) { return detail::forms::abs_of(a); }
  /// 0 at 0.
  constexpr void pull(auto& g) const { g.add(0, [&] { return select(g.in(0) > 0, g.out, select(g.in(0) < 0, -g.out, 0.0)); }); }
};

struct Minimum {
  static constexpr std::string_view name = "minimum", meaning = "the smaller of a and b; NaN if either is NaN";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::arithmetic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(minimum(a, b)) { return minimum(a, b); }
  /// Half for each where both are equal.
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return select(g.in(0) == g.in(1), 0.5 * g.out, select(g.in(0) < g.in(1), g.out, 0.0)); });
    g.add(1, [&] { return select(g.in(0) == g.in(1), 0.5 * g.out, select(g.in(1) < g.in(0), g.out, 0.0)); });
  }
};

struct Maximum {
  static constexpr std::string_view name = "maximum", meaning = "the larger of a and b; NaN if either is NaN";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::arithmetic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(maximum(a, b)) { return maximum(a, b); }
  /// Half for each where both are equal.
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return select(g.in(0) == g.in(1), 0.5 * g.out, select(g.in(0) > g.in(1), g.out, 0.0)); });
    g.add(1, [&] { return select(g.in(0) == g.in(1), 0.5 * g.out, select(g.in(1) > g.in(0), g.out, 0.0)); });
  }
};

constexpr Value operator+(Operand a, Operand b) { return binary<Add>(a, b); }
constexpr Value operator-(Operand a, Operand b) { return binary<Subtract>(a, b); }
constexpr Value operator*(Operand a, Operand b) { return binary<Multiply>(a, b); }
constexpr Value operator/(Operand a, Operand b) { return binary<Divide>(a, b); }
constexpr Value operator-(Operand a) { return call(Negate{}, {a.value()}, a.at); }
constexpr Value floor_div(Operand a, Operand b) { return binary<FloorDiv>(a, b); }
constexpr Value mod(Operand a, Operand b) { return binary<Mod>(a, b); }
constexpr Value abs(Value a, Here at = Here::current()) { return call(Abs{}, {a}, at); }
constexpr Value minimum(Operand a, Operand b) { return binary<Minimum>(a, b); }
constexpr Value maximum(Operand a, Operand b) { return binary<Maximum>(a, b); }

}  // namespace attune
