/// `attune run --heatmap`: attention weights of a call as a picture with labels.
#pragma once

#include <string>
#include <vector>

#include "tools/attune/file_inputs.h"

namespace attune {

/// The options as they were typed.
struct HeatOptions {
  std::string picture;             ///< "weights.png" or "OUTPUT=weights.png"; empty without a picture
  std::string labels, key_labels;  ///< files
  std::string places;              ///< "batch=0"
};

/// A result with the names of its dims.
struct HeatValues {
  std::vector<std::string> dims;
  std::vector<std::int64_t> extents;
  std::vector<double> values;
};

/// The options understood: the output that is drawn, or none where the weights are to be computed, the file, and labels; or the problem in words.
struct HeatRequest {
  std::string output, path;
  std::vector<std::string> labels, key_labels;
  std::string places, labels_file, key_labels_file;
  std::string problem;

  bool is_asked() const { return !path.empty(); }
};
HeatRequest read_heat_request(const HeatOptions& options);

/// The output of the graph that a softmax's weights, or something else of its queries and keys, go to; empty if there is none.
std::string weights_output(const Graph& graph);

/// The weights of the graph's only softmax for these inputs, in double precision, as [.., queries, keys]; or the problem in words.
struct SoftmaxWeights {
  HeatValues values;
  std::string problem;
};
SoftmaxWeights softmax_weights(const Graph& graph, const FileInputs& files);

/// Draws the last two dims as rows and columns, a panel for each position of the others. The problem in words, or nothing.
std::string draw_heat_map(const HeatRequest& request, const std::string& title, const HeatValues& values);

}  // namespace attune
