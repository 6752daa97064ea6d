/// What a tuning run is asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace attune {

struct TuneSettings {
  std::vector<std::string> graph;              ///< as the user says it: GRAPH with --struct and --param
  std::string graph_text;                      ///< the same as MLIR, if a candidate's process would have to compile a header to get it
  std::vector<std::string> compile_arguments;  ///< of `attune compile`, after the graph: how it is specialised, tuned files
  std::string kernel;                          ///< its name
  std::string target;
  int threads = 1;
  double budget_s = 60;    ///< of wall time since `started`
  std::string budget;      ///< as the user says it
  int most_tries = 0;      ///< candidates of each stage; 0 is as many as the budget allows
  std::uint64_t seed = 1;
  std::string state_path;
  std::string inputs = {};  ///< as --in gives them: a state is of them
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
};

}  // namespace attune
