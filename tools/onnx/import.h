/// A node of a model, or the part of a model that ends in it, as a graph of the language.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/onnx/model.h"
#include "tools/onnx/operators.h"

namespace attune {

struct ImportRequest {
  std::string node;                            ///< its name, or that of a tensor that it gives
  std::vector<std::string> inputs;             ///< tensors that are inputs of the graph, whatever gives them
  std::map<std::string, std::int64_t, std::less<>> extents;  ///< of symbolic ones
};

/// A tensor of the graph and where it comes from.
struct ImportedTensor {
  std::string name, tensor;            ///< in the graph, in the model
  std::vector<std::int64_t> extents;   ///< in the model
  std::vector<std::int64_t> declared;  ///< in the graph: the same memory
};

struct Imported {
  NodeGraph node;  ///< its `constants` are those that the model holds, with the extents that the graph declares
  std::string name;
  std::vector<ImportedTensor> inputs;
  std::string problem;
};

/// A node of an operator that attune knows is its graph. From any other the graph goes back, through what Translator knows, to the product over a
/// softmax, to the product that gives its scores, and on to what only reshapes, scales or shifts by a constant an operand of these;
/// tensors before that are its inputs.
Imported import_node(const OnnxModel& model, const ImportRequest& request);

}  // namespace attune
