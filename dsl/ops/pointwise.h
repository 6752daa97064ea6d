/// The one shape and kind rule of all pointwise operations.
#pragma once

#include <cmath>

#include "dsl/number.h"
#include "dsl/op.h"

namespace attune {

/// Which kinds the operands may have, and which the result has.
enum class Signature {
  arithmetic,   ///< all real, all i64 or all i32 -> the same
  integral,     ///< all i64 or all i32 -> the same
  fractional,   ///< all real -> real
  function,     ///< real, i64 or i32 -> real
  comparison,   ///< all real, all i64 or all i32 -> boolean
  logic,        ///< all boolean -> boolean
  selection,    ///< boolean, a, a -> the kind of a
  to_real,      ///< any -> real
  to_i64,       ///< any -> i64
};

namespace detail {
inline constexpr std::array<Name, 3> operand_names = {"a", "b", "c"};

constexpr bool is_allowed(Signature signature, Kind kind) {
  const bool is_integer = kind == Kind::i64 || kind == Kind::i32;
  switch (signature) {
    case Signature::arithmetic:
    case Signature::function:
    case Signature::comparison: return kind == Kind::real || is_integer;
    case Signature::integral: return is_integer;
    case Signature::fractional: return kind == Kind::real;
    case Signature::logic: return kind == Kind::boolean;
    case Signature::selection:
    case Signature::to_real:
    case Signature::to_i64: return true;
  }
  return false;
}

constexpr std::string_view allowed_kinds(Signature signature) {
  switch (signature) {
    case Signature::integral: return "i64 or i32";
    case Signature::fractional: return "real";
    case Signature::logic: return "boolean";
    default: return "real, i64 or i32";
  }
}

constexpr Kind result_kind(Signature signature, Kind kind) {
  switch (signature) {
    case Signature::comparison: return Kind::boolean;
    case Signature::function:
    case Signature::to_real: return Kind::real;
    case Signature::to_i64: return Kind::i64;
    default: return kind;
  }
}
}  // namespace detail

/// The operands' dims united in order of appearance (a condition's last), and the kind that the signature gives.
/// Refuses kinds that differ and kinds that the operation is not made for.
constexpr Checked infer_pointwise(Signature signature, std::span<const Type> in) {
  Type type = in.back();
  type.dims = {};
  const bool selects = signature == Signature::selection;
  for (const Type& operand : in.subspan(selects ? 1 : 0)) type.dims.unite(operand.dims);
  type.dims.unite(in[0].dims);
  type.kind = detail::result_kind(signature, in.back().kind);
  if (selects && in[0].kind != Kind::boolean)
    return refuse(type, "the condition is ", in[0].kind, "; it must be boolean");
  const std::size_t first = selects ? 1 : 0;
  for (std::size_t i = first; i < in.size(); ++i)
    if (!detail::is_allowed(signature, in[i].kind))
      return refuse(type, detail::operand_names[i], " is ", in[i].kind, "; it must be ", detail::allowed_kinds(signature),
                    signature == Signature::fractional && in[i].kind != Kind::boolean
                        ? " (floor_div divides integers, to_real converts)"
                        : "");
  for (std::size_t i = first + 1; i < in.size(); ++i)
    if (in[i].kind != in[first].kind)
      return refuse(type, detail::operand_names[first], " is ", in[first].kind, " and ", detail::operand_names[i], " is ",
                    in[i].kind, "; kinds must agree (to_real and to_i64 convert)");
  return {type, {}};
}

/// `op` of two operands, of which at least one is a value.
template <class Op>
constexpr Value binary(const Operand& a, const Operand& b) {
  return call(Op{}, {a.beside(b), b.beside(a)}, a.is_value() ? a.at : b.at);
}

}  // namespace attune
