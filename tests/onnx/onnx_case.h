/// A node test of ONNX, read from its folder, and the same node as a graph.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dsl/interpret.h"

namespace attune {

/// Arrays by ONNX's names, their `type.kind` set; attributes that are not set have the operator's default.
struct OnnxCase {
  std::string name, op;
  std::map<std::string, double, std::less<>> attributes;
  Arrays inputs, outputs;
  std::string storage;                ///< of its reals: f32, bf16 or f16
  double relative = 0, absolute = 0;  ///< an element may differ by absolute + relative * |expected|

  bool has(std::string_view input) const { return inputs.find(input) != inputs.end(); }
  /// An attribute, or `missing` if it is neither set nor has a default.
  double attribute(std::string_view attribute_name, double missing = 0) const;
};

/// The case in a folder. The tolerance of 16-bit cases is that of the arithmetic which made them: every intermediate is
/// rounded to 8 (bfloat16) or 11 (float16) bits, a few times in a row.
OnnxCase read_onnx_case(const std::filesystem::path& folder);
/// The folders of all cases, sorted.
std::vector<std::filesystem::path> onnx_cases();

/// How many of an output's elements differ from the case's by more than its tolerance, and the worst of them, in words; empty if none does.
std::string onnx_difference(const OnnxCase& node, const std::string& output, const std::vector<double>& got);

/// The node as a graph, with outputs of ONNX's names, and the case's inputs with the extents that the graph declares.
struct OnnxGraph {
  Graph graph;
  Arrays inputs;
};
OnnxGraph attention_node(const OnnxCase& node);
OnnxGraph rotary_node(const OnnxCase& node);
/// Of the case's operator.
OnnxGraph node_graph(const OnnxCase& node);

}  // namespace attune
