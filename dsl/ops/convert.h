/// Conversions between kinds, elementwise.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

struct ToReal {
  static constexpr std::string_view name = "to_real", meaning = "a as a real; a boolean gives 0 or 1";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::to_real;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(to_real(a)) { return to_real(a); }
};

struct ToI64 {
  static constexpr std::string_view name = "to_i64", meaning = "a as an i64, rounded towards zero; -2^62 or 2^62 beyond those, -2^62 of NaN; a boolean gives 0 or 1";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::to_i64;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(to_i64(a)) { return to_i64(a); }
};

constexpr Value to_real(Value a, Here at = Here::current()) { return call(ToReal{}, {a}, at); }
constexpr Value to_i64(Value a, Here at = Here::current()) { return call(ToI64{}, {a}, at); }

}  // namespace attune
