/// A graph for people and tools: its operations line by line, and its signature.
#pragma once

#include <string>

#include "tools/attune/graph_source.h"

namespace attune {

/// "%3 = matmul(%0, %1) over=[depth]   real [batch x heads x queries x keys]", a line each.
std::string graph_text(const Graph& graph);

/// Inputs, outputs, dims and parameters.
std::string signature_text(const LoadedGraph& graph);
/// {"name", "parameters", "inputs": [{"name", "kind", "dims"}], "outputs": [...], "dims": [{"name", "formula", "operands", "value"}]}
std::string signature_json(const LoadedGraph& graph);

}  // namespace attune
