/// GRAPH on the command line: a variant's name, FILE.mlir, or FILE.h with --struct.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/graph.h"

namespace attune {

/// Which graph, and its parameters as they were set ("window=512").
struct GraphRequest {
  std::string graph;
  std::string struct_name;  ///< of FILE.h
  std::vector<std::string> settings;
  std::vector<std::string> include_folders = {};  ///< of what FILE.h includes, beside its own
};

/// A graph without problems. Names in it live as long as `owner`.
struct LoadedGraph {
  std::string name;        ///< of the variant or the function
  std::string parameters;  ///< all parameters with their values, comma separated
  Graph graph;
  std::shared_ptr<void> owner;
  std::vector<std::string> headers = {};  ///< that it was read from, FILE.h and what that includes but the system's
  std::string problem;     ///< in words; then nothing else is set
};
inline LoadedGraph no_graph(std::string problem) {
  LoadedGraph loaded;
  loaded.problem = std::move(problem);
  return loaded;
}

LoadedGraph load_graph(const GraphRequest& request);

/// The graph that text of the dialect `attn` holds. `source` names the text in sentences, and `what` the kind of thing that it is named for.
LoadedGraph graph_from_text(std::string_view text, const std::string& source, std::string_view what);

/// The graph that a C++ struct in a header describes: the system's C++ compiler makes a small library of it, which a process of its own opens;
/// what the header does beside describing a graph (a crash, an endless loop, an exception) ends that process, and is said. A wrong graph gives
/// the compiler's sentence.
LoadedGraph load_header(const GraphRequest& request);

}  // namespace attune
