/// Functions of a real, elementwise; an integer operand becomes real. Kernels compute those with `roundings` of 2 n to n ulp of f32.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

struct Exp {
  static constexpr std::string_view name = "exp", meaning = "exp(a)";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) {
    using std::exp;
    return exp(a);
  }
};

struct Log {
  static constexpr std::string_view name = "log", meaning = "the natural logarithm of a; NaN below 0, -inf at 0";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) {
    using std::log;
    return log(a);
  }
};

struct Sqrt {
  static constexpr std::string_view name = "sqrt", meaning = "the square root of a; NaN below 0";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) {
    using std::sqrt;
    return sqrt(a);
  }
};

struct Rsqrt {
  static constexpr std::string_view name = "rsqrt", meaning = "1 / sqrt(a); inf at 0, -inf at -0, NaN below";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) { return rsqrt(a); }
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
  static constexpr auto apply(N a, N b) {
    using std::pow;
    return pow(a, b);
  }
};

struct Tanh {
  static constexpr std::string_view name = "tanh", meaning = "tanh(a)";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) {
    using std::tanh;
    return tanh(a);
  }
};

struct Erf {
  static constexpr std::string_view name = "erf", meaning = "2 / sqrt(pi) * the integral of exp(-t^2) from 0 to a";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) {
    using std::erf;
    return erf(a);
  }
};

struct Sin {
  static constexpr std::string_view name = "sin", meaning = "sin(a), a in radians; within 2 ulp for every a. Angles of positions: rotary_angle";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) {
    using std::sin;
    return sin(a);
  }
};

struct Cos {
  static constexpr std::string_view name = "cos", meaning = "cos(a), a in radians; within 2 ulp for every a. Angles of positions: rotary_angle";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) {
    using std::cos;
    return cos(a);
  }
};

struct Sigmoid {
  static constexpr std::string_view name = "sigmoid", meaning = "1 / (1 + exp(-a))";
  static constexpr int arity = 1;
  static constexpr double roundings = 4;
  static constexpr Signature signature = Signature::function;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) { return sigmoid(a); }
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

}  // namespace attune
