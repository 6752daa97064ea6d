/// The list of schedules: which templates there are for each kind of stage, and how one is chosen.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/stage.h"
#include "schedules/parameters.h"
#include "schedules/tuned.h"

namespace attune {

/// What is wrong with the parameters together, as a sentence; empty if nothing is.
using ParametersProblem = std::string (*)(const Machine& machine, const std::vector<Parameter>& parameters);

/// A dim and the extents of it for which a schedule is the better one.
struct ExtentLimit {
  std::string dim;
  std::int64_t smallest = 0, largest = std::numeric_limits<std::int64_t>::max();

  bool holds(std::int64_t extent) const { return smallest <= extent && extent <= largest; }
};

/// A template for stages with this body. The first of a list that fits the machine is the default.
template <class Body>
struct Schedule {
  std::string_view name;
  bool is_for_gpu = false;
  std::vector<Parameter> (*parameters)(const Machine& machine, SizeClass size) = nullptr;
  ParametersProblem problem = nullptr;
  Stored (*build)(const Body& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& parameters) = nullptr;
  /// A call is of a size (small, of few queries, tiny) if all of these hold; `small_up_to` is that of the schedule's record. Without any, the stage does not mind.
  std::vector<ExtentLimit> (*limits)(const Body& body, std::int64_t small_up_to) = nullptr;
  /// The default for calls of this size alone; without one, for calls of every size that no other schedule is made for.
  std::optional<SizeClass> made_for = {};
};

/// The schedules for a body, CPU and GPU.
template <class Body>
std::span<const Schedule<Body>> schedules();

/// What is said of a schedule whatever its body, for `attune list schedules`.
struct ScheduleInfo {
  std::string_view name, stage;
  bool is_for_gpu = false;
  std::vector<Parameter> (*parameters)(const Machine& machine, SizeClass size) = nullptr;
  ParametersProblem problem = nullptr;
  bool has_limits = false;
  std::optional<SizeClass> made_for = {};
};
std::vector<ScheduleInfo> all_schedules();

/// What the command line says of schedules: `--schedule online_softmax,key_tile=128` and `--tuned FILE`. An empty name chooses nothing.
struct ScheduleChoice {
  std::string name;
  std::vector<Parameter> values;
  SizeClass size = SizeClass::large;  ///< which of a kernel's schedules the values are for
  std::vector<TunedFile> tuned;       ///< come before the built-in files
};

/// The choice that the text says, or the problem in words: a schedule or a parameter that does not exist, not a number.
struct ScheduleChoiceAnswer {
  ScheduleChoice choice;
  std::string problem;
};
ScheduleChoiceAnswer parse_schedule_choice(std::string_view text);

/// Values for a schedule, the file that they are from, and how they were chosen: "default", "tuned: exact", "tuned: nearest bucket d3=64",
/// "command line"; or the problem in words.
struct ParameterAnswer {
  std::vector<Parameter> parameters;
  std::int64_t small_up_to = 0;
  std::string origin, file, problem;
};
/// The command line's, if it names the schedule and size; else the nearest record's for the stage; else the default's.
ParameterAnswer choose_parameters(const ScheduleInfo& schedule, const Machine& machine, SizeClass size, const StageKey& key,
                                  const ScheduleChoice& choice);

/// The schedule of a stage with its parameters, or the problem in words.
template <class Body>
struct ScheduleAnswer : ParameterAnswer {
  const Schedule<Body>* schedule = nullptr;
};
template <class Body>
ScheduleInfo info_of(const Schedule<Body>& s, std::string_view stage = {}) {
  return {s.name, stage, s.is_for_gpu, s.parameters, s.problem, s.limits != nullptr, s.made_for};
}
template <class Body>
ScheduleAnswer<Body> choose_schedule(const Machine& machine, SizeClass size, const StageKey& key, const ScheduleChoice& choice) {
  const bool is_gpu = machine.target.has_gpu_feature();
  const Schedule<Body>* chosen = nullptr;
  for (const Schedule<Body>& schedule : schedules<Body>()) {
    if (schedule.is_for_gpu != is_gpu) continue;
    const bool is_named = schedule.name == choice.name;
    if (chosen == nullptr || is_named || schedule.made_for == size) chosen = &schedule;
    if (is_named) break;
  }
  ScheduleAnswer<Body> answer;
  if (chosen == nullptr) answer.problem = "target '" + machine.name + "': has no schedule for a stage of this graph";
  else answer = {choose_parameters(info_of(*chosen), machine, size, key, choice), chosen};
  return answer;
}

}  // namespace attune
