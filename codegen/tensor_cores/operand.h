/// Operands of tensor cores: tensors in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/steps/steps.h"

namespace attune::tensor_cores {

/// Where a dim of an operand lies: steps along it are steps along a dim of the tensor, times the extents of the dims that were split from it behind
/// this one.
struct DimPlace {
  std::size_t stored = 0;  ///< number among the tensor's dims
  std::vector<std::string> behind;
};

/// A tensor that the step reads, times a number.
struct Operand {
  std::size_t input = 0;  ///< number among the step's inputs
  Element element = Element::f32;  ///< as it is stored
  double factor = 1;
  std::vector<std::string> dims;  ///< of the tensor in memory, outermost first, by the names that the stage has for them; parts where it splits one
  std::vector<DimPlace> places;   ///< of each of `dims`
};

/// The operand that a node of the step's graph is, or why it is none; `what` names it in the sentence.
struct OperandAnswer {
  Operand operand;
  std::string problem;
};
OperandAnswer read_operand(const KernelSteps& plan, const Step& step, int node, std::string_view what);

/// A node that is a constant times another.
struct Multiple {
  double factor = 1;
  int node = -1;
};
std::optional<Multiple> multiple_of(const Graph& graph, int node);

/// What is wrong with the storage of an operand, as a sentence: it is one of these. Empty if nothing is.
std::string storage_problem(const KernelSteps& plan, const Step& step, const Operand& operand, const std::vector<Element>& storages);
/// What is wrong with the storage of operands that are multiplied, as a sentence: one of these, and all the same. Empty if nothing is.
std::string storage_problem(const KernelSteps& plan, const Step& step, const std::vector<const Operand*>& operands,
                            const std::vector<Element>& storages);

}  // namespace attune::tensor_cores
