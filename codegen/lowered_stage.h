/// A stage as it was lowered, for `attune explain` and the manifest.
#pragma once

#include <string>
#include <vector>

#include "schedules/choice.h"

namespace attune {

struct LoweredStage {
  std::string kind, reason, schedule;
  std::vector<Parameter> parameters;
  std::string origin, file;  ///< where the parameters come from, as ParameterAnswer says it
  StageKey key;
};

}  // namespace attune
