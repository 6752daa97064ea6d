/// The list of schedules: which templates there are for each kind of stage.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/choice.h"

namespace attune {

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
  /// Of attention that leaves blocks out; null for a schedule that stores all scores.
  BlockSizes (*blocks)(const std::vector<Parameter>& parameters) = nullptr;
  /// The default for calls of this size alone; without one, for calls of every size that no other schedule is made for.
  std::optional<SizeClass> made_for = {};
};

/// The schedules for a body, CPU and GPU.
template <class Body>
std::span<const Schedule<Body>> schedules();

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
  const bool is_gpu = machine.is_gpu;
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
