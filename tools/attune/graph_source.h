/// GRAPH on the command line: a variant's name, FILE.mlir, or FILE.h with --struct.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dsl/graph.h"

namespace attune {

/// Which graph, and its parameters as they were set ("window=512").
struct GraphRequest {
  std::string graph;
  std::string struct_name;  ///< of FILE.h
  std::vector<std::string> settings;
};

/// A graph without problems. Names in it live as long as `owner`.
struct LoadedGraph {
  std::string name;        ///< of the variant or the function
  std::string parameters;  ///< all parameters with their values, comma separated
  Graph graph;
  std::shared_ptr<void> owner;
  std::string problem;     ///< in words; then nothing else is set
};
LoadedGraph load_graph(const GraphRequest& request);

/// The graph that a C++ struct in a header describes: the system's C++ compiler makes a small library of it, which is
/// opened. A wrong graph gives that compiler's sentence.
LoadedGraph load_header(const GraphRequest& request);

}  // namespace attune
