/// What the commands have in common: the graph, how it is specialised, for what, by which schedule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/passes/stage_options.h"
#include "codegen/targets/targets.h"
#include "schedules/records/choice.h"
#include "tools/attune/graph_source.h"
#include "tools/attune/program.h"

namespace attune {

/// The options as they were typed.
struct Options {
  GraphRequest graph;
  std::string targets = "host", types = "f32", schedule;
  std::vector<std::string> set, tuned;
  bool is_schedule_for_any = false;  ///< one schedule for graphs of which it may fit some: that no stage takes it is no mistake
};

/// Adds GRAPH and the common options to a command.
void add_graph_options(const Command& command, Options& options, Need graph = Need::required);

/// The options understood and checked, or the problem in words.
struct Prepared {
  LoadedGraph graph;
  StageOptions staging;
  std::vector<const TargetInfo*> targets;
  ScheduleChoice schedule;
  std::string problem;
};
Prepared prepare(const Options& options);

/// What the options say of targets and schedules.
struct PreparedTargets {
  std::vector<const TargetInfo*> targets;
  ScheduleChoice schedule;
  std::string problem;
};
PreparedTargets prepare_targets(const Options& options);

/// The same of a graph that no option names.
Prepared prepare(const Options& options, LoadedGraph graph);

/// What `attune compile` takes beside the graph for the same kernel; targets by name, so that what is kept of a run says what "host" was.
std::vector<std::string> compile_arguments(const Options& options, std::string_view target);

/// The tuned file at the path, checked for its target, or the problem in words.
TunedFileAnswer read_tuned(const std::string& path);

/// "batch=2,heads=3" as extents; the problem in words. `who` begins the sentence.
struct ShapeAnswer {
  std::map<std::string, std::int64_t, std::less<>> extents;
  std::string problem;
};
/// Each is `what`: "DIM=EXTENT with an extent".
ShapeAnswer parse_shape(std::string_view text, std::string_view who, std::string_view what = "DIM=EXTENT with an extent");

/// What is wrong with the name of a size of calls, as a sentence; empty if there is such a size.
std::string size_problem(std::string_view size);

/// Prints `attune: <sentence>` on stderr; gives the exit status of wrong input.
int refuse(const std::string& sentence);
inline constexpr int wrong_input = 2, check_failed = 1;

}  // namespace attune
