/// Parts of models that compute attention by products and a softmax, as exporters write them.
#pragma once

#include "tools/onnx/import.h"

namespace attune {

/// The part that ends in the operation, of the model's opset.
Imported import_part(const OnnxSubgraph& graph, const ImportRequest& request, const OnnxOperation& last, std::int64_t opset);

/// The name as that of a graph.
std::string graph_name_of(std::string_view name);

}  // namespace attune
