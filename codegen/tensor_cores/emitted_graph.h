/// EmittedGraph: the values of a stage's graph as code of MLIR at coordinates, and as intervals over blocks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "codegen/tensor_cores/number.h"
#include "dsl/graph.h"

namespace attune::tensor_cores {

/// The index along each named dim, and the extent of each dim.
using Coordinates = std::map<std::string, Emitted, std::less<>>;
using Extents = std::map<std::string, Emitted, std::less<>>;

/// Values that stand for nodes: a product of tensor cores, say, in place of the matmul.
using Given = std::map<int, Emitted>;

/// The first and the last index of some along a dim; of a single one both are the same value.
struct Span {
  Emitted first, last;
};
using Block = std::map<std::string, Span, std::less<>>;

/// The element of an input at coordinates, by its label.
using Load = std::function<Emitted(std::string_view label, const Coordinates& at)>;

/// What an input is known to be within a block in which it is no single element; nothing if that is not known.
using RangeOf = std::function<std::optional<Interval<Emitted>>(std::string_view label, const Block& block)>;

class EmittedGraph {
 public:
  /// The graph outlives its values. Constants are built where `builder` stands.
  EmittedGraph(const Graph& graph, Builder& builder, Load load, Extents extents, RangeOf range_of = {})
      : graph_(graph), builder_(builder), load_(std::move(load)), extents_(std::move(extents)), range_of_(std::move(range_of)) {}

  /// The element of the node at coordinates, which name at least its dims. Of a node that problem_below() has nothing to say of.
  Emitted at(int node, const Coordinates& coordinates, const Given& given = {}) const;

  /// Everything that the node may be inside the block; for a boolean: certainly and possibly true. Sound, not always tight.
  Interval<Emitted> over(int node, const Block& block) const;

  const Emitted& extent(Name dim) const { return extents_.find(std::string_view(dim))->second; }
  const Graph& graph() const { return graph_; }

 private:
  using Found = std::map<int, Emitted>;
  Emitted find(int id, const Coordinates& coordinates, const Given& given, Found& found) const;
  template <class Op>
  Emitted element(const Op& op, const Node& node, const Coordinates& at, const Given& given, Found& found) const;
  /// Where in the operand the element of an operation that moves elements is.
  template <class Op>
  Coordinates origin(const Op& op, const Coordinates& at) const;
  Emitted gathered(const Gather& op, const Node& node, const Coordinates& at, const Given& given) const;
  Emitted dropped(const Dropout& op, const Node& node, const Coordinates& at, const Given& given) const;
  Interval<Emitted> find_over(int id, const Block& block, std::map<int, Interval<Emitted>>& found) const;
  /// What a value of the kind may be when nothing else is known.
  Interval<Emitted> anything(Kind kind) const;

  const Graph& graph_;
  Builder& builder_;
  Load load_;
  Extents extents_;
  RangeOf range_of_;
};

/// The first operation at or below the node, down to the nodes of `inner`, that EmittedGraph cannot compute; empty if there is none.
std::string_view operation_without_code(const Graph& graph, int node, const std::vector<int>& inner);

}  // namespace attune::tensor_cores
