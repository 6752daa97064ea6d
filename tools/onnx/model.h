/// ONNX models, read from files by ONNX's own protobuf definitions. Its headers take seconds to compile and are in model.cpp alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/onnx/node.h"

namespace attune {

struct OnnxModel {
  std::map<std::string, std::int64_t, std::less<>> opsets;  ///< by domain
  OnnxSubgraph graph;
};

/// The model of a file, or the problem in words. Tensors whose numbers are in other files have a `problem`.
struct ModelAnswer {
  OnnxModel model;
  std::string problem;
};
ModelAnswer read_model(const std::string& path);

/// A graph from protobuf's JSON of a GraphProto, or the problem in words.
struct SubgraphAnswer {
  OnnxSubgraph graph;
  std::string problem;
};
SubgraphAnswer subgraph_of_json(const std::string& text);

}  // namespace attune
