/// The interpreter: any graph in double precision from the operations' own `reference` and `apply`. The oracle of all tests.
#pragma once

#include <map>
#include <string>

#include "dsl/array.h"
#include "dsl/graph.h"

namespace attune {

/// Arrays by name.
using Arrays = std::map<std::string, Array, std::less<>>;

/// How large the numbers of an interpretation were, for bounds on rounding errors. Infinities do not count.
struct Magnitudes {
  double score = 0;             ///< the largest operand of a softmax
  double factor = 0;            ///< the largest operand of a matmul or a sum
  double output = 0;
  std::int64_t sum_length = 1;  ///< the most terms of a matmul or a sum
};

/// What an interpretation gives: `outputs` by name, or the problem in words.
struct Interpretation {
  Arrays outputs;
  std::string problem;
  Magnitudes magnitudes;
};

/// The extents of all dims of the graph, from those of its inputs (by input name, outermost first).
/// The problem: an input that is missing, of another rank, or with an extent that contradicts another.
struct Bound {
  DimExtents extents;
  std::string problem;
};
Bound bind_extents(const Graph& graph, const std::map<std::string, std::vector<std::int64_t>, std::less<>>& inputs);

/// The same graph with every composite replaced by what it expands to.
Graph expanded(const Graph& graph);

/// The outputs of the graph for these inputs. Each input has its elements in the order of the graph's declaration; an
/// input's `type` may be left empty. The problem: what `bind_extents` finds, an input that the graph does not have, a number
/// of elements that is not the product of the extents, an element that its kind does not have (0.5 as an i64).
Interpretation interpret(const Graph& graph, const Arrays& inputs);

}  // namespace attune
