#include "tools/onnx/model_tensors.h"

#include <fmt/format.h>

namespace attune {

const OnnxDeclared* ModelTensors::declared(const std::string& name) const {
  for (const auto* list : {&graph_.inputs, &graph_.values, &graph_.outputs})
    for (const OnnxDeclared& declared : *list)
      if (declared.name == name) return &declared;
  return nullptr;
}

OnnxTensor ModelTensors::find(const std::string& name) const {
  const auto refused = [](std::string problem) { return OnnxTensor{find_element("float32"), {}, {}, std::move(problem)}; };
  if (const auto constant = graph_.constants.find(name); constant != graph_.constants.end()) return constant->second;
  const OnnxDeclared* found = declared(name);
  if (found == nullptr) return refused(fmt::format("tensor '{}': the model does not say its shape; onnx.shape_inference.infer_shapes adds it", name));
  if (!found->tensor.problem.empty()) return refused("tensor " + found->tensor.problem);
  OnnxTensor tensor = found->tensor;
  for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
    if (tensor.extents[i] >= 0) continue;
    const auto given = symbols_.find(found->symbols[i]);
    if (given == symbols_.end())
      return refused(fmt::format("tensor '{}': axis {} is symbolic ('{}'); {}", name, i, found->symbols[i],
                                 found->symbols[i] == "?" ? "a model with extents is right" : fmt::format("--shape {}=... gives its extent", found->symbols[i])));
    tensor.extents[i] = given->second;
  }
  return tensor;
}

Kind ModelTensors::kind(const std::string& name) const {
  const auto constant = graph_.constants.find(name);
  const OnnxDeclared* found = declared(name);
  const OnnxElement* element = constant != graph_.constants.end() ? constant->second.element : found != nullptr ? found->tensor.element : nullptr;
  if (element == nullptr) return Kind::real;
  return element->kind == Kind::real || element->kind == Kind::boolean ? element->kind : Kind::i64;
}

}  // namespace attune
