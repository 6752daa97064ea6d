/// The interpreter: any graph in double precision from the operations' own `reference` and `apply`. The oracle of all tests.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/graph.h"

namespace attune {

/// Arrays by name.
using Arrays = std::map<std::string, Array, std::less<>>;

/// What an interpretation gives: `outputs` by name, or the problem in words.
struct Interpretation {
  Arrays outputs;
  std::string problem;
};

/// The extents of all dims of the graph, from those of its inputs (by input name, outermost first).
/// The problem: an input that is missing, of another rank, or with an extent that contradicts another.
struct Bound {
  DimExtents extents;
  std::string problem;
};
Bound bind_extents(const Graph& graph, const std::map<std::string, std::vector<std::int64_t>, std::less<>>& inputs);
Bound bind_extents(const Graph& graph, const Arrays& inputs);

/// The same graph with every composite replaced by what it expands to.
Graph expanded(const Graph& graph);

/// The outputs of the graph for these inputs. Each input has its elements in the order of the graph's declaration; an
/// input's `type` may be left empty. The problem: what `bind_extents` finds, an input that the graph does not have, a number
/// of elements that is not the product of the extents, an element that its kind does not have (0.5 as an i64).
Interpretation interpret(const Graph& graph, const Arrays& inputs);

/// out = the operation, which is no composite, of the arrays. `out` has the result's type and extents, and zeros.
void evaluate(const AnyOp& op, const DimExtents& extents, std::span<const Array> in, Array& out);

/// A node of the expanded graph whose value has just been computed: its operands and its values, of all lanes.
struct Evaluated {
  const Graph& graph;
  int node;
  const DimExtents& extents;
  std::span<const std::vector<Array>> in;
  std::span<Array> lanes;
};
using Change = std::function<void(const Evaluated&)>;

/// The outputs of several interpretations side by side, which differ by what `change` does to the lanes' values; or the problem, as of `interpret`.
struct WalkedGraph {
  std::vector<Arrays> lanes;
  std::string problem;
};
WalkedGraph walk(const Graph& graph, const Arrays& inputs, int lanes, const Change& change);

}  // namespace attune
