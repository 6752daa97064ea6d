/// The masks of a score: selects that hide it where a predicate does not hold, taken off from the outside in.
#pragma once

#include <limits>
#include <vector>

#include "dsl/graph.h"

namespace attune {

/// A predicate of a mask, and whether it hides where it holds.
struct MaskPredicate {
  int node = -1;
  bool is_hiding = false;
};

/// A score without its masks: `score` is the node below them.
struct PeeledScore {
  int score = -1;
  std::vector<MaskPredicate> predicates;
};

/// Of a node of a graph whose composites are expanded. What hides is -inf before a softmax, and 0 of weights.
inline PeeledScore peel_masks(const Graph& graph, int score, double hidden = -std::numeric_limits<double>::infinity()) {
  const auto is_hidden = [&](int node) {
    const auto* constant = std::get_if<Constant>(&graph.node(node).op);
    return constant != nullptr && constant->value == hidden;
  };
  PeeledScore peeled{score, {}};
  while (std::holds_alternative<Select>(graph.node(peeled.score).op)) {
    const auto in = graph.node(peeled.score).operands();
    const bool shows = is_hidden(in[2]);
    if (!shows && !is_hidden(in[1])) break;
    peeled.predicates.push_back({in[0], !shows});
    peeled.score = shows ? in[1] : in[2];
  }
  return peeled;
}

}  // namespace attune
