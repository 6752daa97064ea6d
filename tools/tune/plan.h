/// What there is to tune: the stages of kernels that calls of the given shapes reach.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/attune/file_inputs.h"
#include "tools/attune/options.h"
#include "tools/tune/duel.h"
#include "tools/tune/search.h"

namespace attune {

/// A graph whose kernels are compiled and called, as `attune compile` takes it.
struct TuneSubject {
  Prepared prepared;
  std::string title;                           ///< for messages: "causal, depth=64"
  std::vector<std::string> graph;              ///< as the user says it: GRAPH with --struct and --param
  std::string graph_text;                      ///< its MLIR, where a candidate's process has to get it so: `graph` does not say it, or says a header to compile
  std::vector<std::string> compile_arguments;  ///< after the graph: how it is specialised, tuned files
  std::vector<std::string> shapes;             ///< what is measured, as --shape gives it
  FileInputs given;                            ///< inputs of files in place of random ones, a file for all shapes or one for each

  const std::string& kernel() const { return prepared.graph.name; }
};

/// Calls of one of the subjects.
struct SubjectCalls {
  TuneSubject subject;
  DuelCall check;  ///< a small call with odd extents, with the interpreter's outputs
  /// For each size that the kernel chooses at the call, the dims whose extents say so: small (few, shared, tiny) calls have none that is longer than a limit.
  std::map<SizeClass, std::vector<std::string>> row_dims;

  /// The call with another extent of these dims.
  DuelCall with_rows(const DuelCall& call, SizeClass size, std::int64_t extent) const;
};

/// A call that is measured.
struct PlannedCall {
  std::size_t subject;
  DuelCall call;
  std::string shape;  ///< as text
};

/// The parameters of a schedule for calls of one size: for all stages that have one of these keys.
struct TuneTask {
  std::string kind, schedule;
  SizeClass size = SizeClass::large;
  std::vector<StageKey> keys;      ///< one; where defaults are tuned those of all stages that take the schedule
  Space space;
  Point by_default, start;         ///< what the defaults say (those of --tuned before the built-in ones), and what a kernel takes so far
  std::vector<Point> hints;        ///< the defaults of all targets: what is good elsewhere may be good here
  std::int64_t small_up_to = 0;    ///< as records have it
  std::vector<std::size_t> calls;  ///< those of the plan that reach it, ascending

  /// "online_softmax, large"
  std::string title() const { return kind + ", " + std::string(name_of(size)); }
  /// "query_tile=8, key_tile=64"
  std::string describe(const Point& point) const;
  /// Attention is worth more time than products, and these more than the rest; large calls more than short ones, which take less time to try.
  double weight() const {
    return (kind == "online_softmax" || kind == "weighted_sum" ? 4 : kind == "gemm" ? 2 : 1) * (size == SizeClass::large ? 2 : 1);
  }
};

/// What the records of a run are for: each stage by itself, or all stages that have no record.
enum class RecordsFor { stages, defaults };

struct TunePlan {
  RecordsFor records_for = RecordsFor::stages;
  std::vector<SubjectCalls> subjects;
  std::vector<PlannedCall> calls;
  std::vector<TuneTask> tasks;
  std::string problem;

  /// The subjects whose calls reach the task, ascending.
  std::vector<std::size_t> subjects_of(const TuneTask& task) const;
  /// The calls that a task is measured with, as text.
  std::string shapes_of(const TuneTask& task) const;
};

/// The plan for the target, on a device of the capability (DriverDevice::capability) if it is one's: of the kernels of a code that is tuned which
/// calls take there. The problem is one of the shapes or inputs.
TunePlan make_plan(std::vector<TuneSubject> subjects, const TargetInfo& target, RecordsFor records_for = RecordsFor::stages,
                   std::string_view capability = {});

}  // namespace attune
