/// The position along a dim, and how many positions there are: what masks and position encodings are made of.
#pragma once

#include "dsl/array.h"
#include "dsl/op.h"

namespace attune {

struct Index {
  Name dim;

  static constexpr std::string_view name = "index", meaning = "i[dim] = the position along `dim`, from 0; of kind i64";
  static constexpr int arity = 0;
  static constexpr auto fields = std::tuple{Field{"dim", &Index::dim}};

  constexpr Checked infer(std::span<const Type>) const { return {{Kind::i64, {dim}}, {}}; }
  void reference(const DimExtents&, std::span<const Array>, Array& out) const {
    for (std::size_t i = 0; i < out.data.size(); ++i) out.data[i] = static_cast<double>(i);
  }
};

struct Extent {
  Name dim;

  static constexpr std::string_view name = "extent", meaning = "the number of positions along `dim`; of kind i64";
  static constexpr int arity = 0;
  static constexpr auto fields = std::tuple{Field{"dim", &Extent::dim}};

  constexpr Checked infer(std::span<const Type>) const { return {{Kind::i64, {}}, {}}; }
  void reference(const DimExtents& extents, std::span<const Array>, Array& out) const {
    out.data[0] = static_cast<double>(extents.at(dim));
  }
};

constexpr Value index(Dim dim, Here at = Here::current()) { return call_in(dim.graph, Index{dim.name}, {}, at); }
constexpr Value extent(Dim dim, Here at = Here::current()) { return call_in(dim.graph, Extent{dim.name}, {}, at); }

}  // namespace attune
