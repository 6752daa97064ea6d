/// The tuner: searches the schedules of a kernel's stages by compiling and measuring kernels until a budget is spent.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/tune/plan.h"
#include "tools/tune/settings.h"
#include "tools/tune/state.h"

namespace attune {

/// What came of a task. Times are of the last duel against the default, in which the record had to win once more.
struct TunedTask {
  const TuneTask* task = nullptr;
  std::size_t tried = 0, failed = 0;
  std::vector<Parameter> parameters;  ///< the default's unless is_better
  bool is_better = false;
  double default_ms = 0, tuned_ms = 0;  ///< geometric means over `races`
  std::vector<RaceTimes> races;         ///< of the task's calls by default and as tuned
  std::int64_t small_up_to = 0;       ///< learned where the kernel tells calls of this size from others at the call; the default's elsewhere
  std::string first_failure;  ///< why a candidate failed, in words
};

/// A record is worth writing if its parameters or its limit are better than the default's.
inline bool is_worth_a_record(const TunedTask& task) { return task.is_better || task.small_up_to != task.task->small_up_to; }

/// How far a run is, for a progress bar. `speedup` is that of the stage's best so far over what it began with, as the search saw it.
struct TuneProgress {
  double elapsed_s = 0;
  std::string title;
  std::size_t task = 0, tasks = 0, tried = 0, failed = 0;
  double speedup = 1;
};

/// `is_interrupted`: the state file holds what was tried, and there are no results.
struct TuneResult {
  std::vector<TunedTask> tasks;
  bool is_interrupted = false;
  std::string problem;
};
TuneResult run_tuner(const TunePlan& plan, const TuneSettings& settings, const std::function<void(const TuneProgress&)>& show);

}  // namespace attune
