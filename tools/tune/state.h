/// What a tuning run has tried so far, in a file: an interrupted run goes on where it was.
#pragma once

#include <string>
#include <vector>

#include "tools/tune/search.h"

namespace attune {

struct TuneState {
  std::string run;                      ///< what is tuned, in words: a state is for one run only
  double elapsed_s = 0;
  std::vector<std::vector<Try>> tries;  ///< of each task
};

/// The state in the file; an empty one if there is no file. The problem: it is of another run, or not a state.
struct TuneStateAnswer {
  TuneState state;
  std::string problem;
};
TuneStateAnswer read_state(const std::string& path, const std::string& run);

/// Replaces the file in one step; the problem in words, or nothing.
[[nodiscard]] std::string write_state(const std::string& path, const TuneState& state);

}  // namespace attune
