/// Random valid graphs of the language's operations, with inputs: for tests of properties that every graph must have.
#pragma once

#include <cstdint>

#include "dsl/interpret.h"

namespace attune {

/// A graph without a problem, and inputs for it. Every value stays below `bound` in size, and whatever a test of kernels
/// could not decide is left out: reals are compared only where they are inputs, which are multiples of 1/64 between -2
/// and 2 (exact in f32 and bf16), and the arguments of exp, log, sqrt and divide stay where these are smooth. Without
/// `has_special`, -inf occurs only as what a mask hides from a softmax.
struct RandomGraph {
  static constexpr double bound = 64;
  Graph graph;
  Arrays inputs;
};

/// What to draw from.
struct RandomChoices {
  int operations = 12;       ///< steps, each one to six operations
  bool has_dropout = true;   ///< dropout numbers elements in the order of its operand's dims
  bool has_empty = true;     ///< one graph in eight has a dim of extent 0
  bool has_special = false;  ///< literals that are infinite or NaN, masks without a softmax and ids outside, each with one operation behind
};

/// The same graph and inputs for the same seed, on every machine.
RandomGraph random_graph(std::uint64_t seed, const RandomChoices& choices = {});

}  // namespace attune
