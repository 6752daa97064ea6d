/// Parts of models that compute attention by products and a softmax, as exporters write them.
#pragma once

#include "tools/onnx/import.h"

namespace attune {

/// Types and extents of a model's tensors.
class ModelTensors {
 public:
  ModelTensors(const OnnxSubgraph& graph, const std::map<std::string, std::int64_t, std::less<>>& symbols) : graph_(graph), symbols_(symbols) {}
  /// The tensor with all its extents as numbers, and its numbers if it is a constant; or its problem in words.
  OnnxTensor find(const std::string& name) const;
  /// What the language calculates with in place of its type; real if the model does not say.
  Kind kind(const std::string& name) const;

 private:
  const OnnxDeclared* declared(const std::string& name) const;
  const OnnxSubgraph& graph_;
  const std::map<std::string, std::int64_t, std::less<>>& symbols_;
};

/// The part that ends in the operation, of the model's opset.
Imported import_part(const OnnxSubgraph& graph, const ImportRequest& request, const OnnxOperation& last, std::int64_t opset);

/// The name as that of a graph.
std::string graph_name_of(std::string_view name);

}  // namespace attune
