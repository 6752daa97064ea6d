/// How schedules and their parameters are chosen, whatever the bodies of the stages: all that the command line,
/// the tuner and the manifest need of them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/targets/machine.h"
#include "schedules/records/block_sizes.h"
#include "schedules/records/parameters.h"
#include "schedules/records/tuned.h"

namespace attune {

/// What is wrong with the parameters together, as a sentence; empty if nothing is.
using ParametersProblem = std::string (*)(const Machine& machine, const std::vector<Parameter>& parameters);

/// A dim and the extents of it for which a schedule is the better one.
struct ExtentLimit {
  std::string dim;
  std::int64_t smallest = 0, largest = std::numeric_limits<std::int64_t>::max();

  bool holds(std::int64_t extent) const { return smallest <= extent && extent <= largest; }
};

/// What is said of a schedule whatever its body, for `attune list schedules`.
struct ScheduleInfo {
  std::string_view name, stage;
  bool is_for_gpu = false;
  std::vector<Parameter> (*parameters)(const Machine& machine, SizeClass size) = nullptr;
  ParametersProblem problem = nullptr;
  std::vector<SizeClass> limited = {};  ///< sizes of call whose records have a limit
  std::optional<SizeClass> made_for = {};
  BlockSizes (*blocks)(const std::vector<Parameter>& parameters) = nullptr;  ///< of attention in tiles
  int (*registers)(const Machine& machine, const std::vector<Parameter>& parameters) = nullptr;  ///< that the innermost loop keeps values in
  std::optional<Device> device = {};  ///< of those that it is for, if it is for one alone

  std::string_view some_devices = {};  ///< of that kind alone, if it is for some of them: such a schedule stands beside one for all
  bool (*needs)(const Machine& machine) = nullptr;  ///< what not all CPUs have; null for a schedule that needs no more than the others

  bool is_for(const Machine& machine) const {
    if (needs != nullptr && !needs(machine)) return false;
    return device ? *device == machine.device : is_for_gpu == machine.is_gpu();
  }
};
std::vector<ScheduleInfo> all_schedules();

/// Calls of attention of size `few`: up to so many queries, and more keys than that schedules for small calls were faster.
std::vector<ExtentLimit> limits_of_few(const std::string& queries, const std::string& keys, std::int64_t small_up_to);

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

/// How many octaves the stage is away from the nearest record of the schedule for calls of the size; none if there is no record for it.
std::optional<int> octaves_to_record(std::string_view schedule, const Machine& machine, SizeClass size, const StageKey& key,
                                     const ScheduleChoice& choice);

/// A default for each schedule and size of calls that the machine's target has one for: what stages without a record take.
std::vector<TunedRecord> default_records(const Machine& machine, const ScheduleChoice& choice);

/// Values for a schedule, the file that they are from, and how they were chosen: "default", "tuned: exact", "tuned: nearest bucket d3=64",
/// "command line"; or the problem in words.
struct ParameterAnswer {
  std::vector<Parameter> parameters;
  std::int64_t small_up_to = 0;
  std::string origin, file, problem;
};
/// What is wrong with values that the schedule is given in place of those of `others`, as a sentence; empty if nothing is.
std::string values_problem(const ScheduleInfo& schedule, const Machine& machine, const std::vector<Parameter>& others, const std::vector<Parameter>& given);

/// The command line's, if it names the schedule and size; else the nearest record's for the stage; else the default's.
ParameterAnswer choose_parameters(const ScheduleInfo& schedule, const Machine& machine, SizeClass size, const StageKey& key,
                                  const ScheduleChoice& choice);

}  // namespace attune
