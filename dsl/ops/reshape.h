/// Other dims for the same elements: split, merge. Nothing is moved.
#pragma once

#include "dsl/ops/rename.h"

namespace attune {

/// One dim that `split` makes: its name, and its extent unless it takes what is left.
struct Part {
  Dim dim;
  std::int64_t extent = 0;
  constexpr explicit(false) Part(Dim d, std::int64_t e = 0) : dim(d), extent(e) {}
};

struct Split {
  Name from;
  Names into;
  std::array<std::int64_t, 4> extents{};  ///< of `into`; 0 takes what is left

  static constexpr std::int64_t max_stated = 1 << 20;  ///< the product of three fits an i64

  static constexpr std::string_view name = "split",
                                    meaning = "y[.., a, b, ..] = x[.., a * B + b, ..]; `extents` states all extents of `into` but one (0)";
  static constexpr int arity = 1;
  static constexpr double roundings = 0;
  static constexpr auto fields =
      std::tuple{Field{"from", &Split::from}, Field{"into", &Split::into}, Field{"extents", &Split::extents}};

  /// The type of x with `into` at the place of `from`. Refuses a `from` that x lacks, an `into` that it has, and
  /// anything but one unstated extent.
  constexpr Checked infer(std::span<const Type> in) const {
    Type type{in[0].kind, {}};
    for (Name dim : in[0].dims) {
      if (dim != from) type.dims.add(dim);
      if (dim == from)
        for (Name part : into) type.dims.add(part);
    }
    if (Text problem = refuse_missing({from}, "splits", "x", in[0]); !problem.empty()) return {type, problem};
    if (into.size() < 2 || into.size() > 4) return refuse(type, "splits ", from, " into ", into.size(), " dims; 2 to 4 are possible");
    int unstated = 0;
    for (int i = 0; i < into.size(); ++i) {
      if (in[0].dims.has(into[i]) || into.position(into[i]) != i)
        return refuse(type, "splits ", from, " into ", into[i], ", which is there already: x is ", in[0].dims);
      const std::int64_t extent = extents[static_cast<std::size_t>(i)];
      if (extent < 0 || extent > max_stated)
        return refuse(type, "the extent of ", into[i], " is ", extent, "; it must be from 1 to ", max_stated);
      unstated += extent == 0;
    }
    if (unstated != 1)
      return refuse(type, "leaves ", unstated, " extents of ", into, " unstated; all but one must be stated");
    return {type, {}};
  }
  /// The stated extents, and the unstated = from / the product of the stated.
  constexpr void derive(std::span<const Type>, auto add) const {
    Derivation rest{{}, Formula::quotient, {from}, 1};
    for (int i = 0; i < into.size(); ++i) {
      const std::int64_t extent = extents[static_cast<std::size_t>(i)];
      if (extent == 0) rest.dim = into[i];
      if (extent != 0) add(Derivation{into[i], Formula::fixed, {}, extent});
      if (extent != 0) rest.value *= extent;
    }
    add(rest);
  }
  void reference(const DimExtents&, std::span<const Array> in, Array& out) const { out.data = in[0].data; }
  constexpr void pull(auto& g) const {
    g.add(0, [&] {
      auto read = g.out, number = index(g.dim(from));
      for (int i = into.size() - 1; i >= 0; --i) {
        read = gather(read, i == 0 ? number : mod(number, extent(g.dim(into[i]))), g.dim(into[i]));
        if (i > 0) number = floor_div(number, extent(g.dim(into[i])));
      }
      return read;
    });
  }
};

struct Merge {
  Names from;
  Name into;

  static constexpr std::string_view name = "merge", meaning = "y[.., a * B + b] = x[.., a, .., b]; `into` = the product of the extents of `from`";
  static constexpr int arity = 1;
  static constexpr double roundings = 0;
  static constexpr auto fields = std::tuple{Field{"from", &Merge::from}, Field{"into", &Merge::into}};

  /// The type of x with `into` at the place of the first of `from`. Refuses a `from` that x lacks, an `into` that it has.
  constexpr Checked infer(std::span<const Type> in) const {
    Type type{in[0].kind, {}};
    for (Name dim : in[0].dims) {
      if (!from.empty() && dim == from[0]) type.dims.add(into);
      if (!from.has(dim)) type.dims.add(dim);
    }
    if (Text problem = refuse_missing(from, "merges", "x", in[0]); !problem.empty()) return {type, problem};
    if (from.size() < 2) return refuse(type, "merges ", from, "; at least two dims are merged (rename renames one)");
    if (in[0].dims.has(into) && !from.has(into)) return refuse(type, "merges into ", into, ", which x has already: x is ", in[0].dims);
    if (from.has(into)) return refuse(type, "merges ", from, " into ", into, "; the result needs a dim of its own");
    return {type, {}};
  }
  constexpr void derive(std::span<const Type>, auto add) const { add(Derivation{into, Formula::product, from, 1}); }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    std::vector<Name> dims;
    for (Name dim : out.type.dims)
      if (dim != into) dims.push_back(dim);
    for (Name dim : from) dims.push_back(dim);
    Array merged = out;  // the same memory with the merged dim taken apart
    merged.type.dims = Names{};
    merged.extents.clear();
    for (Name dim : out.type.dims)
      for (Name part : dim == into ? from : Names{dim}) {
        merged.type.dims.add(part);
        merged.extents.push_back(extents.at(part));
      }
    Walk(dims, extents, {&in[0], &merged}).run([&](auto at) { out.data[at[1]] = in[0].data[at[0]]; });
  }
  /// Each element is read at its number among those of the merged dims.
  constexpr void pull(auto& g) const {
    g.add(0, [&] {
      auto number = index(g.dim(from[0]));
      for (int i = 1; i < from.size(); ++i) number = number * extent(g.dim(from[i])) + index(g.dim(from[i]));
      return gather(g.out, number, g.dim(into));
    });
  }
};

/// split(x, model, {{heads, 12}, depth}). Where more than one extent is not stated, those that dims are fixed to count.
constexpr Value split(Value x, Dim from, std::initializer_list<Part> into, Here at = Here::current()) {
  Split op{from.name, {}, {}};
  for (const Part& part : into) {
    if (op.into.size() < 4) op.extents[static_cast<std::size_t>(op.into.size())] = part.extent;
    op.into.add(part.dim.name);
  }
  int unstated = 0;
  for (int i = 0; i < op.into.size() && i < 4; ++i) unstated += op.extents[static_cast<std::size_t>(i)] == 0;
  for (int i = 0; i < op.into.size() && i < 4 && unstated > 1; ++i)
    if (std::int64_t& extent = op.extents[static_cast<std::size_t>(i)]; extent == 0) {
      extent = fixed_extent(x, op.into[i]);
      unstated -= extent != 0;
    }
  return call(op, {x}, at);
}
constexpr Value merge(Value x, std::initializer_list<Dim> from, Dim into, Here at = Here::current()) {
  return call(Merge{names_of(from), into.name}, {x}, at);
}

}  // namespace attune
