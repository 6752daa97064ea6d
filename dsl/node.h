/// What a graph is a table of: operations with their operands, results, dims.
#pragma once

#include "dsl/ops.h"

namespace attune {

/// An operation, the numbers of its operands (all smaller than its own) and the type of its result.
struct Node {
  AnyOp op;
  std::array<int, max_operands> inputs{};
  int input_count = 0;
  Type type;

  constexpr std::span<const int> operands() const { return {inputs.data(), static_cast<std::size_t>(input_count)}; }
};

/// A result: its name, the node that gives it, and the order of its dims in memory, outermost first.
struct Output {
  Name name;
  int node = -1;
  Names dims;
  int input = -1;  ///< the node of the input in whose memory it stands, and whose name it has; -1: in memory of its own

  constexpr bool is_in_place() const { return input >= 0; }
};

/// A dim: where its extent comes from. `is_bound`: an input has it, so the call brings an extent (which must agree).
struct DimInfo {
  Derivation derivation;
  bool is_bound = false;
  Here at{};  ///< where the variant names it first
  constexpr Name name() const { return derivation.dim; }
};

}  // namespace attune
