/// One shape for many graphs: each takes the dims that it has.
#pragma once

#include <string>

#include "tests/codegen/kernel_case.h"

namespace attune {

/// Those of a shape's dims that the graph has and that follow from no others.
inline std::string fitting(const std::string& shape, const Graph& graph) {
  std::string result;
  for (const auto& [dim, extent] : parse_shape(shape, "shape").extents)
    for (const DimInfo& info : graph.dim_infos())
      if (info.name() == dim && info.derivation.formula == Formula::free) result += (result.empty() ? "" : ",") + dim + "=" + std::to_string(extent);
  return result;
}

}  // namespace attune
