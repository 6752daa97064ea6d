#include "tools/onnx/part_finder.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/onnx/translator.h"

namespace attune {
namespace {

bool is_product(const OnnxOperation& operation) { return operation.op == "MatMul" || operation.op == "Einsum"; }

/// Inputs whose numbers the operation takes: Shape asks for extents alone, CastLike for its second input's type.
std::size_t inputs_read(const OnnxOperation& operation) {
  if (operation.op == "Shape") return 0;
  return operation.op == "CastLike" ? 1 : operation.inputs.size();
}

/// Whether the input is a shape or a list of axes, which may come from anywhere.
bool takes_numbers(const OnnxOperation& operation, std::size_t input) {
  static const std::set<std::string_view> shaped = {"Reshape", "Unsqueeze", "Squeeze", "Expand"};
  return (input == 1 && shaped.contains(operation.op)) || operation.op == "Range" || operation.op == "ConstantOfShape";
}

}  // namespace

PartFinder::PartFinder(const OnnxSubgraph& graph, const ImportRequest& request) : graph_(graph), request_(request), tensors_(graph, request.extents) {
  for (const OnnxOperation& operation : graph.operations)
    for (const std::string& output : operation.outputs) producers_.emplace(output, &operation);
}

bool PartFinder::is_constant(const std::string& tensor) const {
  if (const auto found = constants_.find(tensor); found != constants_.end()) return found->second;
  const auto producer = producers_.find(tensor);
  bool is = graph_.constants.contains(tensor);
  if (producer != producers_.end() && Translator::knows(*producer->second)) {
    const std::vector<std::string>& inputs = producer->second->inputs;
    const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(inputs_read(*producer->second));
    is = std::all_of(inputs.begin(), end, [&](const std::string& input) { return input.empty() || is_constant(input); });
  }
  return constants_[tensor] = is;
}

bool PartFinder::is_of_operand(const OnnxOperation& operation) const {
  static const std::set<std::string_view> moves = {"Transpose", "Reshape", "Unsqueeze", "Squeeze", "Expand", "Identity", "Dropout",
                                                   "Cast", "CastLike", "Constant", "Concat", "Split"};
  static const std::set<std::string_view> changes = {"Mul", "Div", "Add", "Sub"};
  const std::vector<std::string>& inputs = operation.inputs;
  if (moves.contains(operation.op)) return true;
  if (operation.op == "Slice")
    return std::all_of(inputs.begin() + 1, inputs.end(), [&](const std::string& input) { return input.empty() || is_constant(input); });
  if (operation.op == "Gather") return inputs.size() == 2 && is_constant(inputs[1]) && !is_constant(inputs[0]);
  return changes.contains(operation.op) && std::ranges::any_of(inputs, [&](const std::string& input) { return is_constant(input); });
}

bool PartFinder::comes_from(const std::string& tensor, std::string_view op) const {
  std::set<std::string> seen;
  return comes_from(tensor, op, seen);
}

bool PartFinder::comes_from(const std::string& tensor, std::string_view op, std::set<std::string>& seen) const {
  const auto producer = producers_.find(tensor);
  if (producer == producers_.end() || !seen.insert(tensor).second) return false;
  if (producer->second->op == op) return true;
  if (is_product(*producer->second)) return false;
  return std::ranges::any_of(producer->second->inputs, [&](const std::string& input) { return comes_from(input, op, seen); });
}

bool PartFinder::is_on_the_way(const std::string& tensor, Zone zone) const {
  if (zone == Zone::factor) return comes_from(tensor, "Softmax");
  if (zone == Zone::score) return comes_from(tensor, "MatMul");
  return zone == Zone::result;
}

void PartFinder::visit(const std::string& tensor, Zone zone) {
  if (tensor.empty() || !problem_.empty()) return;
  const auto producer = producers_.find(tensor);
  const bool is_cut = std::ranges::find(request_.inputs, tensor) != request_.inputs.end();
  if (is_cut || producer == producers_.end()) return void(beginnings_.insert(tensor));
  const OnnxOperation& operation = *producer->second;
  if (is_constant(tensor)) return take(operation, Zone::known);
  if (!Translator::knows(operation)) {
    if (!is_on_the_way(tensor, zone)) return void(beginnings_.insert(tensor));
    const std::string& name = operation.name.empty() ? tensor : operation.name;
    problem_ = fmt::format("node '{}': operator '{}' is not supported; --input {} makes what it gives an input", name, full_name(operation), tensor);
    return;
  }
  const bool is_before_operand = zone == Zone::operand && !is_of_operand(operation);
  const bool is_outside = is_product(operation) ? zone == Zone::factor || zone == Zone::operand : is_before_operand;
  if (is_outside) return void(beginnings_.insert(tensor));
  take(operation, zone);
}

void PartFinder::take(const OnnxOperation& operation, Zone zone) {
  if (!taken_.insert(&operation).second) return;
  if (is_product(operation)) return take_product(operation, zone);
  if (operation.op == "Softmax") zone = Zone::score;
  if (operation.op == "Shape" && !tensors_.find(operation.inputs[0]).problem.empty()) visit(operation.inputs[0], Zone::operand);
  for (std::size_t i = 0; i < inputs_read(operation); ++i) visit(operation.inputs[i], takes_numbers(operation, i) ? Zone::result : zone);
}

void PartFinder::take_product(const OnnxOperation& operation, Zone zone) {
  for (const std::string& input : operation.inputs)
    visit(input, zone == Zone::result && comes_from(input, "Softmax") ? Zone::factor : Zone::operand);
}

}  // namespace attune
