/// Codec: a value of a field as an MLIR attribute, and back.
#pragma once

#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/Operation.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <string>

#include "dsl/op.h"

namespace attune {

/// `encode` gives the attribute of a value; `decode` gives the value, or nothing for an attribute of another form.
/// `form` says what is expected.
template <class T>
struct Codec;

/// An integer; an enumeration of a variant is its number.
template <class T>
  requires std::integral<T> || std::is_enum_v<T>
struct Codec<T> {
  static constexpr std::string_view form = "an integer";
  static mlir::Attribute encode(mlir::MLIRContext* c, T v) {
    return mlir::IntegerAttr::get(mlir::IntegerType::get(c, 64), static_cast<std::int64_t>(v));
  }
  static std::optional<T> decode(mlir::Attribute a) {
    const auto integer = llvm::dyn_cast_or_null<mlir::IntegerAttr>(a);
    if (!integer || !integer.getType().isSignlessInteger(64)) return std::nullopt;
    return static_cast<T>(integer.getInt());
  }
};

template <>
struct Codec<bool> {
  static constexpr std::string_view form = "true or false";
  static mlir::Attribute encode(mlir::MLIRContext* c, bool v) { return mlir::BoolAttr::get(c, v); }
  static std::optional<bool> decode(mlir::Attribute a) {
    const auto boolean = llvm::dyn_cast_or_null<mlir::BoolAttr>(a);
    return boolean ? std::optional(boolean.getValue()) : std::nullopt;
  }
};

/// A number; what is not finite is text, because MLIR writes it as a bit pattern: "-inf".
template <std::floating_point T>
struct Codec<T> {
  static constexpr std::string_view form = "a number, \"inf\", \"-inf\" or \"nan\"";
  static mlir::Attribute encode(mlir::MLIRContext* c, T v) {
    constexpr T exact = 9007199254740992;  // 2^53: an integer up to it is written as one; -0 is not
    if (std::trunc(v) == v && std::abs(v) <= exact && !(v == 0 && std::signbit(v)))
      return Codec<std::int64_t>::encode(c, static_cast<std::int64_t>(v));
    if (std::isfinite(v)) return mlir::FloatAttr::get(mlir::Float64Type::get(c), static_cast<double>(v));
    return mlir::StringAttr::get(c, std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
  }
  static std::optional<T> decode(mlir::Attribute a) {
    if (const auto number = llvm::dyn_cast_or_null<mlir::FloatAttr>(a)) return static_cast<T>(number.getValueAsDouble());
    if (const auto whole = Codec<std::int64_t>::decode(a)) return static_cast<T>(*whole);
    const auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(a);
    if (!text) return std::nullopt;
    if (text.getValue() == "nan") return std::numeric_limits<T>::quiet_NaN();
    if (text.getValue() == "inf") return std::numeric_limits<T>::infinity();
    if (text.getValue() == "-inf") return -std::numeric_limits<T>::infinity();
    return std::nullopt;
  }
};

/// The characters of a decoded name are those of the attribute: they live as long as the context.
template <>
struct Codec<Name> {
  static constexpr std::string_view form = "a name in quotes";
  static mlir::Attribute encode(mlir::MLIRContext* c, Name v) { return mlir::StringAttr::get(c, llvm::StringRef(v)); }
  static std::optional<Name> decode(mlir::Attribute a) {
    const auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(a);
    return text ? std::optional<Name>(text.getValue()) : std::nullopt;
  }
};

template <>
struct Codec<Names> {
  static constexpr std::string_view form = "a list of at most 8 names in quotes";
  static mlir::Attribute encode(mlir::MLIRContext* c, const Names& v) {
    llvm::SmallVector<mlir::Attribute> names;
    for (Name name : v) names.push_back(Codec<Name>::encode(c, name));
    return mlir::ArrayAttr::get(c, names);
  }
  static std::optional<Names> decode(mlir::Attribute a) {
    const auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(a);
    if (!list) return std::nullopt;
    Names names;
    for (mlir::Attribute item : list) {
      const std::optional<Name> name = Codec<Name>::decode(item);
      if (!name) return std::nullopt;
      names.add(*name);
    }
    return names.is_too_long() ? std::nullopt : std::optional(names);
  }
};

template <std::size_t count>
struct Codec<std::array<std::int64_t, count>> {
  static constexpr std::string_view form = "a list of 4 integers";
  static_assert(count == 4, "the form names the count");
  static mlir::Attribute encode(mlir::MLIRContext* c, const std::array<std::int64_t, count>& v) {
    return mlir::Builder(c).getI64ArrayAttr(v);
  }
  static std::optional<std::array<std::int64_t, count>> decode(mlir::Attribute a) {
    const auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(a);
    if (!list || list.size() != count) return std::nullopt;
    std::array<std::int64_t, count> result{};
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<std::int64_t> item = Codec<std::int64_t>::decode(list[static_cast<unsigned>(i)]);
      if (!item) return std::nullopt;
      result[i] = *item;
    }
    return result;
  }
};

template <>
struct Codec<Kind> {
  static constexpr std::string_view form = "one of \"real\", \"i32\", \"i64\", \"i8\", \"u8\", \"boolean\"";
  static mlir::Attribute encode(mlir::MLIRContext* c, Kind v) { return Codec<Name>::encode(c, name_of(v)); }
  static std::optional<Kind> decode(mlir::Attribute a) {
    const std::optional<Name> name = Codec<Name>::decode(a);
    for (std::size_t i = 0; name && i < kind_names.size(); ++i)
      if (kind_names[i] == *name) return static_cast<Kind>(i);
    return std::nullopt;
  }
};

}  // namespace attune
