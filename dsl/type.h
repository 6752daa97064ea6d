/// Type: the kind of a value's elements and the names of its dims.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "dsl/text.h"

namespace attune {

/// What an element is. How a `real` is stored is chosen when a kernel is compiled.
enum class Kind { real, i32, i64, i8, u8, boolean };

inline constexpr std::array<std::string_view, 6> kind_names = {"real", "i32", "i64", "i8", "u8", "boolean"};
constexpr std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
constexpr Text& operator<<(Text& t, Kind kind) { return t << name_of(kind); }

/// A value of the kind is the number: a real any, a boolean 0 or 1, an i64 those that a double holds exactly.
constexpr bool holds(Kind kind, double number) {
  constexpr std::array<double, 6> low = {0, -2147483648.0, -9007199254740992.0, -128, 0, 0};
  constexpr std::array<double, 6> high = {0, 2147483647.0, 9007199254740992.0, 127, 255, 1};
  const auto k = static_cast<std::size_t>(kind);
  return kind == Kind::real ||
         (number >= low[k] && number <= high[k] && number == static_cast<double>(static_cast<std::int64_t>(number)));
}

/// The name of a dim or an input. Its characters outlive the graph: literals do, and so do MLIR's attributes.
using Name = std::string_view;

/// A short list of names in order.
class Names {
 public:
  static constexpr int capacity = 8;

  constexpr Names() = default;
  constexpr Names(std::initializer_list<Name> names) {
    for (Name name : names) add(name);
  }

  /// Appends the name, also when it is there already.
  constexpr void add(Name name) {
    if (size_ < capacity)
      items_[static_cast<std::size_t>(size_++)] = name;
    else
      is_too_long_ = true;
  }
  /// Appends the name unless it is there already.
  constexpr void unite(Name name) {
    if (!has(name)) add(name);
  }
  constexpr void unite(const Names& names) {
    for (Name name : names) unite(name);
  }
  constexpr bool has(Name name) const { return position(name) >= 0; }
  /// Where the name stands, or -1.
  constexpr int position(Name name) const {
    for (int i = 0; i < size_; ++i)
      if ((*this)[i] == name) return i;
    return -1;
  }
  constexpr Names without(const Names& others) const {
    Names rest;
    for (Name name : *this)
      if (!others.has(name)) rest.add(name);
    return rest;
  }
  /// The same with `to` at the place of `from`.
  constexpr Names renamed(Name from, Name to) const {
    Names result;
    for (Name name : *this) result.add(name == from ? to : name);
    return result;
  }

  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  /// More names were added than fit; the first `capacity` are kept.
  constexpr bool is_too_long() const { return is_too_long_; }
  constexpr Name operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }
  constexpr const Name* begin() const { return items_.data(); }
  constexpr const Name* end() const { return items_.data() + size_; }
  constexpr bool operator==(const Names& other) const {
    if (size_ != other.size_) return false;
    for (int i = 0; i < size_; ++i)
      if ((*this)[i] != other[i]) return false;
    return true;
  }

 private:
  std::array<Name, capacity> items_{};
  int size_ = 0;
  bool is_too_long_ = false;
};

constexpr Text& operator<<(Text& t, const Names& names) {
  t << "[";
  for (int i = 0; i < names.size(); ++i) t << (i > 0 ? " x " : "") << names[i];
  return t << "]";
}

struct Type {
  Kind kind = Kind::real;
  Names dims;
  constexpr bool operator==(const Type&) const = default;
};

/// What a rule answers: the type of the result, or the problem that forbids it.
struct Checked {
  Type type;
  Text problem;
};

/// One text from its parts.
constexpr Text sentence(const auto&... parts) {
  Text t;
  ((t << parts), ...);
  return t;
}

/// The refusal `parts...`; the type is a usable stand-in, so that later code adds no noise.
constexpr Checked refuse(const Type& stand_in, const auto&... parts) { return {stand_in, sentence(parts...)}; }

}  // namespace attune
