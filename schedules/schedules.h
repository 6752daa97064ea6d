/// The list of schedules: which templates there are for each kind of stage, and how one is chosen.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/stage.h"
#include "schedules/parameters.h"

namespace attune {

/// A dim and the largest extent of it for which the schedule for small calls is the better one.
struct ExtentLimit {
  std::string dim;
  std::int64_t largest = 0;
};

/// A template for stages with this body. The first of a list that fits the machine is the default.
template <class Body>
struct Schedule {
  std::string_view name;
  bool is_for_gpu = false;
  std::vector<Parameter> (*parameters)(const Machine& machine, SizeClass size) = nullptr;
  /// What is wrong with the parameters together, as a sentence; empty if nothing is.
  std::string (*problem)(const Machine& machine, const std::vector<Parameter>& parameters) = nullptr;
  Stored (*build)(const Body& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& parameters) = nullptr;
  /// A call is small if all of these hold; without any, the stage does not mind.
  std::vector<ExtentLimit> (*small_up_to)(const Body& body) = nullptr;
};

/// The schedules for a body, CPU and GPU.
template <class Body>
std::span<const Schedule<Body>> schedules();

/// What is said of a schedule whatever its body, for `attune list schedules`.
struct ScheduleInfo {
  std::string_view name, stage;
  bool is_for_gpu = false;
  std::vector<Parameter> (*parameters)(const Machine& machine, SizeClass size) = nullptr;
};
std::vector<ScheduleInfo> all_schedules();

/// What the command line says of schedules: `--schedule online_softmax,key_tile=128`. An empty name chooses nothing.
struct ScheduleChoice {
  std::string name;
  std::vector<Parameter> values;
  SizeClass size = SizeClass::large;  ///< which of a kernel's schedules the values are for
};

/// The choice that the text says, or the problem in words: a schedule or a parameter that does not exist, not a number.
struct ScheduleChoiceAnswer {
  ScheduleChoice choice;
  std::string problem;
};
ScheduleChoiceAnswer parse_schedule_choice(std::string_view text);

/// The schedule of a stage with its parameters, and where they come from; or the problem in words.
template <class Body>
struct ScheduleAnswer {
  const Schedule<Body>* schedule = nullptr;
  std::vector<Parameter> parameters;
  std::string origin, problem;
};
template <class Body>
ScheduleAnswer<Body> choose_schedule(const Machine& machine, SizeClass size, const ScheduleChoice& choice) {
  const bool is_gpu = machine.target.has_gpu_feature();
  ScheduleAnswer<Body> answer;
  for (const Schedule<Body>& schedule : schedules<Body>()) {
    if (schedule.is_for_gpu != is_gpu) continue;
    const bool is_named = schedule.name == choice.name;
    if (answer.schedule == nullptr || is_named) answer.schedule = &schedule;
    if (is_named) break;
  }
  if (answer.schedule == nullptr) {
    answer.problem = "target '" + machine.name + "': has no schedule for a stage of this graph";
    return answer;
  }
  const std::string name(answer.schedule->name);
  answer.parameters = answer.schedule->parameters(machine, size);
  answer.origin = "default";
  if (name != choice.name || size != choice.size) return answer;
  answer.problem = parameter_problem(name, answer.parameters, choice.values);
  if (!answer.problem.empty()) return answer;
  answer.parameters = with_values(std::move(answer.parameters), choice.values);
  answer.origin = "command line";
  if (answer.schedule->problem != nullptr) answer.problem = answer.schedule->problem(machine, answer.parameters);
  return answer;
}

}  // namespace attune
