#include "tools/attune/masked_call.h"

#include <fmt/format.h>

#include "tools/attune/trial.h"

namespace attune {
namespace {

/// Pairs and blocks are counted in 64 bits.
std::string counting_problem(const Graph& graph, const Shape& extents, bool has_inputs) {
  for (const Node& node : graph.nodes()) {
    double elements = 1;
    for (const Name dim : node.type.dims) elements *= static_cast<double>(extents.find(dim)->second);
    if (elements > 0x1p62)
      return fmt::format("--shape: {} would have {:.3g} elements; up to {:.3g} are counted", sentence(node.type.dims).view(), elements, 0x1p62);
  }
  return has_inputs ? memory_problem(graph, extents, 0) : std::string();
}

}  // namespace

MaskedCall masked_call(const Prepared& prepared, const KernelReport& report, const std::string& shape, const FileInputs& given) {
  FilledShape filled = fill_shape(prepared, shape);
  MaskedCall call{std::move(filled.extents), {}, std::move(filled.problem)};
  if (!call.problem.empty()) return call;
  const Graph& graph = prepared.graph.graph;
  const bool has_inputs = !given.files.empty() || !mask_inputs(report.staged).empty();
  call.problem = counting_problem(graph, call.extents, has_inputs);
  if (!call.problem.empty() || !has_inputs) return call;
  call.inputs = random_inputs(graph, call.extents, 1);
  call.problem = put_inputs(graph, given, call.inputs);
  return call;
}

}  // namespace attune
