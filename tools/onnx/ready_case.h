/// A case as a graph with its inputs: what an interpreter or a kernel is called with.
#pragma once

#include "tools/onnx/case.h"
#include "tools/onnx/operators.h"

namespace attune {

struct ReadyCase {
  OnnxCase one;
  NodeGraph node;
  Arrays inputs;        ///< as the graph declares them
  std::string types;    ///< the storage of each real tensor, as --type spells it
  std::string problem;  ///< of the files or of the node, in words
};

/// The case in a folder; its `moved` is not filled.
ReadyCase ready_case(const std::filesystem::path& folder);

}  // namespace attune
