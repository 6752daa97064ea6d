/// ONNX's operators of attention as graphs of the language: the only list of them, one file each.
#pragma once

#include <limits>
#include <memory>
#include <span>

#include "dsl/interpret.h"
#include "tools/onnx/node.h"

namespace attune {

/// A node as a graph: inputs and outputs have ONNX's names. Or the problem, in words.
struct NodeGraph {
  Graph graph;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> declared;  ///< of inputs that the graph declares otherwise, the same memory: their extents
  Arrays constants;               ///< inputs that the node does not have: constant tensors of its subgraphs
  std::shared_ptr<void> owner;    ///< names of the graph live as long
  std::string problem;
};

struct OnnxInput {
  std::string_view name;
  bool is_required = false;
  std::int64_t since = 1;  ///< the opset that has it first
};

enum class OnnxAttributeKind { integer, real, text, graph };
struct OnnxAttributeRule {
  std::string_view name;
  OnnxAttributeKind kind = OnnxAttributeKind::integer;
  double low = 0, high = std::numeric_limits<double>::infinity();
  std::int64_t since = 1;
};

/// Where ONNX's reference rounds to the type of 16-bit inputs: behind each operation, or, calculating in float32, at the end.
enum class OnnxRounding { of_operations, of_results };

struct OnnxOperator {
  std::string_view name, domain;
  std::int64_t since;  ///< the opset that has it first
  std::span<const OnnxInput> inputs;
  std::span<const std::string_view> outputs;  ///< the first is never left out
  std::span<const OnnxAttributeRule> attributes;
  NodeGraph (*build)(const OnnxNode&);  ///< of a node that the rest of the row allows
  OnnxRounding rounding = OnnxRounding::of_operations;
};

std::span<const OnnxOperator> onnx_operators();
/// The row of the operator, or nullptr. The domain "ai.onnx" is the one without a name.
const OnnxOperator* find_operator(std::string_view name, std::string_view domain);

/// The node's graph, without a problem of the graph's own. What the operator does not allow is a sentence.
NodeGraph node_graph(const OnnxNode& node);

/// The rows' parts, each in the file of its operator.
OnnxOperator attention_operator();
OnnxOperator flex_attention_operator();
OnnxOperator linear_attention_operator();
OnnxOperator rotary_embedding_operator();

}  // namespace attune
