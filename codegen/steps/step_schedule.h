/// The schedule of a step for calls of one size, as `attune explain` and the manifest tell it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedules/records/choice.h"

namespace attune {

struct StepSchedule {
  std::string name;
  std::vector<Parameter> parameters;
  std::string origin, file;         ///< where the parameters come from, as ParameterAnswer says it
  std::optional<std::vector<ExtentLimit>> limits;  ///< calls for which this is the better schedule: those that keep all; without any, no call's
  std::optional<BlockSizes> blocks; ///< of attention; none where all scores are stored
  bool is_made_for_size = false;    ///< or chosen by a record, for calls of this size alone
  /// Of kernels that stand in the same code, which calls on the devices that they say take in place of this one.
  std::vector<StepSchedule> beside = {};
  std::string devices = {};         ///< that this one is for, if it stands beside another: "compute capability 9.0"
  std::string declined = {};        ///< why code generators or schedules that are asked first cannot make the step; empty if none was, or none is for the target
};

}  // namespace attune
