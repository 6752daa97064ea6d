/// Graphs of variants by name for tests: in one place, as a source that names them all compiles for long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/graph.h"

namespace attune {

/// The graph of the variant with its parameters set ("window=5"); std::invalid_argument where the list of variants refuses it.
Graph variant_graph(std::string_view name, const std::vector<std::string>& settings = {});

/// The names of all variants.
std::vector<std::string_view> names_of_variants();

}  // namespace attune
