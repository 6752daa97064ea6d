/// LoweredGraph: the values of a stage's graph as Halide expressions at coordinates, and as intervals over blocks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "codegen/halide/bodies/block_ranges.h"
#include "codegen/halide/bodies/stage.h"
#include "codegen/halide/numbers/lowered.h"
#include "dsl/graph.h"
#include "dsl/interval.h"

namespace attune {

/// An argument: its element at coordinates, and what is known of blocks of it (may be empty).
struct Source {
  std::function<Lowered(const Coordinates&)> at;
  BlockSource over;
};

/// Values that stand for nodes: a template's product, say, in place of the matmul.
using Given = std::map<int, Lowered>;

class LoweredGraph {
 public:
  /// `sources`: of every Input node of the graph, by its label. The graph outlives its values.
  LoweredGraph(const Graph& graph, std::map<std::string, Source, std::less<>> sources, Extents extents)
      : graph_(graph), sources_(std::move(sources)), extents_(std::move(extents)) {}

  /// The element of the node at coordinates, which name at least its dims.
  Lowered at(int node, const Coordinates& coordinates, const Given& given = {}) const;

  /// Everything that the node may be inside the block; for a boolean: certainly and possibly true. Sound, not always tight.
  Interval<Lowered> over(int node, const Block& block) const;

  /// The node as a piece of a stage.
  Piece piece(int node) const;

  /// The extent of a dim as a number of the language.
  Lowered extent(Name dim) const;
  const Extents& extents() const { return extents_; }
  const Graph& graph() const { return graph_; }

 private:
  friend struct Site;
  /// Values found so far at one place.
  using Found = std::map<int, Lowered>;
  Lowered find(int node, const Coordinates& coordinates, const Given& given, Found& found) const;
  Interval<Lowered> find_over(int node, const Block& block, std::map<int, Interval<Lowered>>& found) const;
  std::optional<Interval<Lowered>> chosen_over(const Gather& op, const Node& node, const Block& block, const Interval<Lowered>& ids) const;

  const Graph& graph_;
  std::map<std::string, Source, std::less<>> sources_;
  Extents extents_;
};

/// One operation at one place of a graph, for `lower`.
struct Site {
  const LoweredGraph& values;
  const Node& node;
  const Coordinates& at;
  const Given& given;
  LoweredGraph::Found& found;

  /// Operand i at the same coordinates, or at others.
  Lowered operand(std::size_t i) const { return values.find(node.inputs[i], at, given, found); }
  Lowered operand(std::size_t i, const Coordinates& elsewhere) const { return values.at(node.inputs[i], elsewhere, given); }
  const Type& type_of_operand(std::size_t i) const { return values.graph().node(node.inputs[i]).type; }
  Halide::Expr coordinate(Name dim) const { return at.at(std::string(dim)); }
};

/// The meaning of a primitive operation as an expression, one definition each in codegen/halide/lower/. A forgotten one is a
/// link error that names it.
template <class Op>
Lowered lower(const Op& op, const Site& site);

/// Says in the stage what an operation that walks rows (`is_walk`) makes of them, likewise, of an operand of the kind;
/// and what it walks over instead of the operand's elements.
template <class Op>
void add_walk(const Op& op, Kind kind, Pointwise& stage);
template <class Op>
Lowered walked_element(const Op& op, Kind kind, const Lowered& element);

/// Loop variables over dims, and coordinates in which they replace the dims' own.
struct Reduction {
  Halide::RDom domain;
  Coordinates at;
};
Reduction reduction_over(const Names& dims, const Site& site);

}  // namespace attune
