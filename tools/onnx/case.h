/// A conformance case: a node with arrays for its inputs and what ONNX expects of its outputs, read from a folder. docs/onnx.md has the format.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dsl/interpret.h"
#include "tools/onnx/node.h"

namespace attune {

/// An output as it is without rounding, and how far the same computation comes from it if each result is rounded.
struct RoundedOutput {
  Array exact;
  double error = 0;  ///< of the element that is farthest
};

/// Arrays by the formal names of the operator; those of a graph's other extents are the same memory.
struct OnnxCase {
  std::string name;
  OnnxNode node;
  Arrays inputs, outputs;
  std::map<std::string, const OnnxElement*, std::less<>> output_elements;
  double relative = 1e-3, absolute = 1e-7;  ///< what the case allows: absolute + relative * |expected|
  double unit = 0;                          ///< of the coarsest type that its arithmetic rounds to
  std::map<std::string, RoundedOutput, std::less<>> rounded = {};
  std::string problem;                      ///< what is wrong with the files, in words; then nothing else but the name is set
};

/// The folders at or below `folder` that hold a case.json, sorted.
std::vector<std::filesystem::path> case_folders(const std::filesystem::path& folder);

/// The case in a folder. A graph of an attribute stands in case.json, or the whole node is that of the folder's model.onnx.
OnnxCase read_case(const std::filesystem::path& folder);

/// Fills `rounded`: the graph is interpreted as it is, once with each result that ONNX's reference rounds rounded to nearest, and some times with each
/// of them moved at random by up to a rounding, sums by roundings of their terms and partial sums as well. `inputs` are those of the graph.
void find_rounding(OnnxCase& one, const Graph& graph, const Arrays& inputs);
inline constexpr int rounding_lanes = 8;

/// How an output compares with the case's. Each element may differ by absolute + relative * |expected| and, for what the expected numbers are off by,
///
///   6 * 2^-24 * max(1, the largest finite |expected|)   a few roundings of f32 of a number as large as the result, or, of weights, as 1
///   2 * error                                           and of 16-bit types by no more from `exact`
///
/// Infinities and NaN agree with themselves alone.
struct OutputDifference {
  std::size_t elements = 0, differing = 0;
  double worst = 0;  ///< the largest difference; infinite where one alone is finite
  std::string text;  ///< how it differs, in words; empty if it does not
};
OutputDifference output_difference(const OnnxCase& one, const std::string& output, const std::vector<std::int64_t>& extents,
                                   const std::vector<double>& got);

}  // namespace attune
