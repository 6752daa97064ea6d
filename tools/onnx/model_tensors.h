/// ModelTensors: types and extents of a model's tensors.
#pragma once

#include "tools/onnx/import.h"

namespace attune {

class ModelTensors {
 public:
  /// `symbols`: extents of symbolic axes, by their names.
  ModelTensors(const OnnxSubgraph& graph, const std::map<std::string, std::int64_t, std::less<>>& symbols) : graph_(graph), symbols_(symbols) {}
  /// The tensor with all its extents as numbers, and its numbers if it is a constant; or its problem in words.
  OnnxTensor find(const std::string& name) const;
  bool declares(const std::string& name) const { return declared(name) != nullptr; }
  /// What the language calculates with in place of its type; real if the model does not say.
  Kind kind(const std::string& name) const;

 private:
  const OnnxDeclared* declared(const std::string& name) const;
  const OnnxSubgraph& graph_;
  const std::map<std::string, std::int64_t, std::less<>>& symbols_;
};

}  // namespace attune
