#include "codegen/tensor_cores/operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>

namespace attune::tensor_cores {
namespace {

std::optional<double> real_constant(const Node& node) {
  const auto* constant = std::get_if<Constant>(&node.op);
  return constant != nullptr && node.type.dims.empty() ? std::optional(constant->value) : std::nullopt;
}

/// A stored dim that the stage knows as these parts.
void add_parts(std::size_t stored, const std::vector<std::string>& parts, Operand& operand) {
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    operand.dims.push_back(*part);
    operand.places.push_back({stored, {part + 1, parts.end()}});
  }
}

}  // namespace

std::optional<Multiple> multiple_of(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (!std::holds_alternative<Multiply>(node.op)) return std::nullopt;
  for (const std::size_t at : {0, 1})
    if (const auto factor = real_constant(graph.node(node.inputs[at]))) return Multiple{*factor, node.inputs[1 - at]};
  return std::nullopt;
}

OperandAnswer read_operand(const KernelSteps& plan, const Step& step, int id, std::string_view what) {
  Operand found;
  std::map<std::string, std::vector<std::string>, std::less<>> names;  // of dims below renames and splits, as the stage knows them
  const auto names_above = [&](std::string_view dim) {
    const auto name = names.find(dim);
    return name == names.end() ? std::vector<std::string>{std::string(dim)} : name->second;
  };
  for (;;) {
    const Node& at = step.graph.node(id);
    if (const auto* rename = std::get_if<Rename>(&at.op)) {
      names.insert_or_assign(std::string(rename->from), names_above(rename->to));
      id = at.inputs[0];
    } else if (const auto* split = std::get_if<Split>(&at.op)) {
      std::vector<std::string> parts;
      for (const Name part : split->into) std::ranges::copy(names_above(part), std::back_inserter(parts));
      names.insert_or_assign(std::string(split->from), std::move(parts));
      id = at.inputs[0];
    } else if (const auto multiple = multiple_of(step.graph, id)) {
      found.factor *= multiple->factor;
      id = multiple->node;
    } else if (const auto* input = std::get_if<Input>(&at.op)) {
      std::from_chars(input->label.data() + 1, input->label.data() + input->label.size(), found.input);
      const StepTensor& tensor = plan.tensors[step.inputs[found.input]];
      found.element = tensor.element;
      for (std::size_t stored = 0; stored < tensor.dims.size(); ++stored) add_parts(stored, names_above(tensor.dims[stored]), found);
      return {std::move(found), {}};
    } else {
      return {{}, fmt::format("tensor cores load {} as they are stored, and they are computed", what)};
    }
  }
}

std::string storage_problem(const KernelSteps& plan, const Step& step, const Operand& operand, const std::vector<Element>& storages) {
  if (std::ranges::find(storages, operand.element) != storages.end()) return {};
  std::string names;
  for (const Element storage : storages) names += (names.empty() ? "" : " or ") + std::string(name_of(storage));
  return fmt::format("tensor cores multiply {}, and '{}' is {}", names, plan.tensors[step.inputs[operand.input]].name, name_of(operand.element));
}

std::string storage_problem(const KernelSteps& plan, const Step& step, const std::vector<const Operand*>& operands,
                            const std::vector<Element>& storages) {
  const auto tensor = [&](const Operand* operand) -> const StepTensor& { return plan.tensors[step.inputs[operand->input]]; };
  const StepTensor& first = tensor(operands.front());
  for (const Operand* operand : operands) {
    if (std::string problem = storage_problem(plan, step, *operand, storages); !problem.empty()) return problem;
    const StepTensor& stored = tensor(operand);
    if (stored.element != first.element)
      return fmt::format("tensor cores multiply operands of one storage: '{}' is {} and '{}' is {}", first.name, name_of(first.element), stored.name,
                         name_of(stored.element));
  }
  return {};
}

}  // namespace attune::tensor_cores
