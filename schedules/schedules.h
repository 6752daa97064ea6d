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
  /// Of attention that leaves blocks out; null for a schedule that stores all scores.
  BlockSizes (*blocks)(const std::vector<Parameter>& parameters) = nullptr;
  /// The default for calls of this size alone; without one, for calls of every size that no other schedule is made for. A record or the command line
  /// may choose it for others.
  std::optional<SizeClass> made_for = {};
  /// Vector registers that the innermost loop keeps values in; null for a schedule that does not say.
  int (*registers)(const Machine& machine, const std::vector<Parameter>& parameters) = nullptr;
  /// What not every machine of its kind has; null for a schedule that needs no more than the others.
  bool (*needs)(const Machine& machine) = nullptr;
  /// Why it cannot make a stage, in words; empty if it can, null for a schedule that makes every stage.
  std::string (*refusal)(const Body& body, const Extents& extents, const Machine& machine) = nullptr;
};

/// The stage by the schedule's template.
template <class Body>
Stored built(const Schedule<Body>& schedule, const Body& body, const Extents& extents, const Machine& machine,
             const std::vector<Parameter>& parameters) {
  return schedule.build(body, extents, machine, parameters);
}
/// Sums of weights without values are sums of one column of ones.
Stored built(const Schedule<OnlineSoftmax>& schedule, const OnlineSoftmax& body, const Extents& extents, const Machine& machine,
             const std::vector<Parameter>& parameters);

/// The schedules for a body, CPU and GPU.
template <class Body>
std::span<const Schedule<Body>> schedules();

/// A size of call that stages with this body tell apart, on devices where a schedule is made for it: a call has it if all limits hold, and none has it
/// without limits; `small_up_to` is that of the schedule's record.
template <class Body>
struct SizeOfCall {
  SizeClass size;
  std::optional<std::vector<ExtentLimit>> (*limits)(const Body& body, std::int64_t small_up_to);
};

/// All but large, which is every other call.
template <class Body>
std::span<const SizeOfCall<Body>> sizes_of_calls();

/// The schedule of a stage with its parameters, or the problem in words.
template <class Body>
struct ScheduleAnswer : ParameterAnswer {
  const Schedule<Body>* schedule = nullptr;
  bool is_for_size = false;  ///< made, or chosen by a record, for calls of the size alone
  std::string declined;      ///< why one that would come before it cannot make the stage
};
template <class Body>
ScheduleInfo info_of(const Schedule<Body>& s, std::string_view stage = {}) {
  ScheduleInfo info{.name = s.name,
                    .stage = stage,
                    .is_for_gpu = s.is_for_gpu,
                    .parameters = s.parameters,
                    .problem = s.problem,
                    .made_for = s.made_for,
                    .blocks = s.blocks,
                    .registers = s.registers,
                    .needs = s.needs};
  for (const SizeOfCall<Body>& of : sizes_of_calls<Body>())
    if (!s.is_for_gpu || s.made_for == of.size) info.limited.push_back(of.size);
  return info;
}
/// Of those that can make the stage the one that the command line names; else that of the nearest record for the stage and size; else the default.
template <class Body>
ScheduleAnswer<Body> choose_schedule(const Body& body, const Extents& extents, const Machine& machine, SizeClass size, const StageKey& key,
                                     const ScheduleChoice& choice) {
  const Schedule<Body>*chosen = nullptr, *recorded = nullptr;
  bool is_named = false;
  std::optional<int> nearest;
  std::string declined;
  for (const Schedule<Body>& schedule : schedules<Body>()) {
    if (!info_of(schedule).is_for(machine)) continue;
    const std::string refusal = schedule.refusal == nullptr ? std::string() : schedule.refusal(body, extents, machine);
    if (!refusal.empty()) {
      if (schedule.name == choice.name || schedule.made_for == size) declined = refusal;
      continue;
    }
    is_named = schedule.name == choice.name;
    if (chosen == nullptr || is_named || schedule.made_for == size) chosen = &schedule;
    if (is_named) break;
    const std::optional<int> octaves = octaves_to_record(schedule.name, machine, size, key, choice);
    if (octaves && (!nearest || *octaves < *nearest || (*octaves == *nearest && chosen == &schedule))) nearest = octaves, recorded = &schedule;
  }
  ScheduleAnswer<Body> answer;
  if (!is_named && recorded != nullptr) chosen = recorded;
  if (chosen == nullptr) answer.problem = "target '" + machine.name + "': has no schedule for a stage of this graph";
  else
    answer = {choose_parameters(info_of(*chosen), machine, size, key, choice), chosen, chosen->made_for == size || (!is_named && chosen == recorded), std::move(declined)};
  return answer;
}

}  // namespace attune
