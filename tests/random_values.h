/// The values of a graph that is drawn at random: what may be used, new inputs, and the random numbers themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "tests/random_graph.h"

namespace attune {

inline constexpr std::array<Name, 6> free_names = {"a", "b", "c", "d", "e", "f"};

/// "i7": the same characters for as long as the program runs.
inline Name numbered(char letter, std::size_t number) {
  static std::set<std::string> names;
  return *names.insert(letter + std::to_string(number)).first;
}

/// A value of the graph that may be used, and the most that its elements are in size.
struct Drawn {
  Value value;
  double size = 2;
  bool is_input = false;
  bool is_used = false;
  bool is_special = false;  ///< may be infinite or NaN: nothing else is made of it, for what the sign of a rounded number decides no test can
};

class RandomValues {
 protected:
  static constexpr int most_dims = 4;
  static constexpr std::int64_t most_elements = 3000;

  /// xorshift64*; the same everywhere.
  std::uint64_t next() {
    state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
    return (state_ * 2685821657736338717ull) >> 16;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  Graph& g() { return result_.graph; }
  Kind kind(const Drawn& d) { return kind_of(d.value); }
  const Names& dims(const Drawn& d) { return dims_of(d.value); }
  Dim dim(Name name) { return g().dim(name); }
  std::int64_t elements(const Names& names) {
    std::int64_t n = 1;
    for (Name name : names) n *= extents_.at(name);
    return n;
  }
  bool fits(const Names& a, const Names& b) {
    Names both = a;
    both.unite(b);
    return !both.is_too_long() && both.size() <= most_dims && elements(both) <= most_elements;
  }

  Drawn add_input(Kind kind, Names dims) {
    const Name name = numbered('i', input_count_++);
    Array array;
    for (Name d : dims) array.extents.push_back(extents_.at(d));
    for (std::int64_t i = 0; i < elements(dims); ++i) {
      const auto steps = static_cast<double>(below(257)) - 128;  // 1/64 each
      array.data.push_back(kind == Kind::real ? steps / 64 : kind == Kind::boolean ? (steps > -64) : std::trunc(steps / 16));
    }
    result_.inputs[std::string(name)] = std::move(array);
    drawn_.push_back({g().input(name, dims, kind, Here::current()), kind == Kind::real ? 2.0 : 8.0, true});
    return drawn_.back();
  }
  Drawn add_input(Kind kind) {
    Names dims;
    const std::size_t rank = 1 + below(3);
    while (dims.size() < static_cast<int>(rank)) dims.unite(free_names[below(free_names.size())]);
    return add_input(kind, dims);
  }
  void keep(Value value, double size) {
    if (size > RandomGraph::bound / 2 && kind_of(value) == Kind::real) {
      value = scale(value, 1 / size);
      size = 1;
    }
    if (size <= RandomGraph::bound) drawn_.push_back({value, size});
  }

  /// One that `is_right` accepts, or none.
  template <class Right>
  std::optional<Drawn> find(Right is_right) {
    for (int i = 0; i < 20; ++i)
      if (Drawn& d = drawn_[below(drawn_.size())]; !d.is_special && is_right(d)) {
        d.is_used = true;
        return d;
      }
    return std::nullopt;
  }
  std::optional<Drawn> real() {
    return find([&](const Drawn& d) { return kind(d) == Kind::real; });
  }
  std::optional<Drawn> real_with_dims() {
    return find([&](const Drawn& d) { return kind(d) == Kind::real && !dims(d).empty(); });
  }
  Name some_dim(const Names& names) { return names[static_cast<int>(below(static_cast<std::size_t>(names.size())))]; }
  Drawn boolean(const Names& beside) {
    const std::optional<Drawn> d = find([&](const Drawn& x) { return kind(x) == Kind::boolean && fits(dims(x), beside); });
    return d ? *d : add_input(Kind::boolean, beside.empty() ? Names{} : Names{some_dim(beside)});
  }
  /// Minus infinity where it is not visible, also where that widens the value.
  Value masked(const Drawn& a, const Drawn& visible) {
    if (dims(visible).without(dims(a)).empty()) return mask(a.value, visible.value);
    return select(visible.value, a.value, -std::numeric_limits<double>::infinity());
  }
  Dim fresh(std::int64_t extent) {
    const Name name = numbered('r', fresh_count_++);
    extents_[name] = extent;
    return dim(name);
  }

  std::uint64_t state_ = 1;  ///< of the random numbers; odd at the start
  RandomGraph result_;
  std::vector<Drawn> drawn_;
  DimExtents extents_;
  std::size_t input_count_ = 0, fresh_count_ = 0;
};

}  // namespace attune
