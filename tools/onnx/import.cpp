#include "tools/onnx/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "tools/onnx/model_tensors.h"
#include "tools/onnx/part.h"

namespace attune {
namespace {

const OnnxOperation* find_node(const OnnxSubgraph& graph, std::string_view name) {
  for (const OnnxOperation& operation : graph.operations)
    if (operation.name == name || std::ranges::find(operation.outputs, name) != operation.outputs.end()) return &operation;
  return nullptr;
}

std::string missing_node(const OnnxSubgraph& graph, const std::string& name) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  for (const OnnxOperation& operation : graph.operations)
    if (!operation.outputs.empty()) names.push_back(fmt::format("{} ({})", operation.name.empty() ? operation.outputs[0] : operation.name, operation.op));
  const std::size_t others = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - others);
  return fmt::format("--node '{}': the model has no such node; it has {}{}", name, fmt::join(names, ", "), others == 0 ? "" : fmt::format(" and {} others", others));
}

/// A name of the request that the model does not have: what it was meant for would be left as it is.
std::string name_problem(const OnnxSubgraph& graph, const ImportRequest& request) {
  const ModelTensors tensors(graph, request.extents);
  for (const std::string& input : request.inputs) {
    const auto gives = [&](const OnnxOperation& operation) { return std::ranges::find(operation.outputs, input) != operation.outputs.end(); };
    if (!graph.constants.contains(input) && !tensors.declares(input) && std::ranges::none_of(graph.operations, gives))
      return fmt::format("--input '{}': the model has no such tensor", input);
  }
  std::set<std::string, std::less<>> symbols, of_inputs;
  for (const auto* list : {&graph.inputs, &graph.values, &graph.outputs})
    for (const OnnxDeclared& declared : *list)
      for (const std::string& symbol : declared.symbols)
        if (!symbol.empty() && symbol != "?") (list == &graph.inputs ? of_inputs : symbols).insert(symbol);
  for (const auto& [name, extent] : request.extents)
    if (!symbols.contains(name) && !of_inputs.contains(name))
      return fmt::format("--shape '{}': the model has no such symbolic axis; {}", name,
                         of_inputs.empty() ? "its inputs have none" : fmt::format("its inputs have {}", fmt::join(of_inputs, ", ")));
  return {};
}

std::int64_t opset_of(const OnnxModel& model, std::string_view domain) {
  const auto found = model.opsets.find(domain == "ai.onnx" ? std::string_view{} : domain);
  return found == model.opsets.end() ? 1 : found->second;
}

/// A node of an operator with a row of its own.
Imported imported_operator(const OnnxModel& model, const ImportRequest& request, const OnnxOperation& operation, const OnnxOperator& row) {
  Imported result;
  OnnxNode node{operation.op, operation.domain, opset_of(model, operation.domain), operation.attributes, {}, {}};
  const ModelTensors tensors(model.graph, request.extents);
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    const std::string& name = operation.inputs[i];
    if (name.empty()) continue;
    if (i >= row.inputs.size()) return result.problem = fmt::format("node '{}': has {} inputs; {} has up to {}", request.node, operation.inputs.size(), row.name, row.inputs.size()), result;
    const OnnxTensor tensor = tensors.find(name);
    if (!tensor.problem.empty()) return result.problem = tensor.problem, result;
    node.inputs.emplace(row.inputs[i].name, tensor);
  }
  for (std::size_t i = 0; i < operation.outputs.size() && i < row.outputs.size(); ++i)
    if (!operation.outputs[i].empty()) node.outputs.emplace_back(row.outputs[i]);
  result.node = node_graph(node);
  result.problem = result.node.problem.empty() ? "" : fmt::format("node '{}': {}", request.node, result.node.problem);
  for (std::size_t i = 0; i < operation.inputs.size() && result.problem.empty(); ++i) {
    if (operation.inputs[i].empty()) continue;
    const std::string formal(row.inputs[i].name);
    const OnnxTensor& tensor = node.inputs.at(formal);
    const auto declared = result.node.declared.find(formal);
    result.inputs.push_back({formal, operation.inputs[i], tensor.extents, declared == result.node.declared.end() ? tensor.extents : declared->second});
    if (tensor.values.empty()) continue;
    Array array;
    array.type.kind = tensor.element->kind;
    array.extents = result.inputs.back().declared;
    array.data = tensor.values;
    result.node.constants.emplace(formal, std::move(array));
  }
  return result;
}

}  // namespace

Imported import_node(const OnnxModel& model, const ImportRequest& request) {
  Imported result;
  const OnnxOperation* operation = find_node(model.graph, request.node);
  if (operation == nullptr) return result.problem = missing_node(model.graph, request.node), result;
  result.problem = name_problem(model.graph, request);
  if (!result.problem.empty()) return result;
  const OnnxOperator* row = find_operator(operation->op, operation->domain);
  if (row != nullptr) result = imported_operator(model, request, *operation, *row);
  else result = import_part(model.graph, request, *operation, opset_of(model, ""));
  result.name = graph_name_of(request.node);
  return result;
}

}  // namespace attune
