/// Which of a step's schedules a call takes.
#pragma once

#include <map>
#include <vector>

#include "codegen/steps/step_schedule.h"
#include "codegen/targets/element.h"
#include "codegen/targets/targets.h"
#include "schedules/records/choice.h"

namespace attune {

/// A call takes the first entry whose limits all hold, each dim standing there once; those of the last always do.
struct SizeRule {
  struct Entry {
    SizeClass size;
    std::vector<ExtentLimit> limits;
  };
  std::vector<Entry> entries;

  bool has(SizeClass size) const;
  /// The one that a call of these extents takes; every dim of a limit has one.
  SizeClass size_of(const KnownExtents& extents) const;
  /// All calls take the schedules for this size, which are right for them too. False, and nothing changes, if there are none.
  bool keep_only(SizeClass size);
};

/// From what the schedules say, one for each size, and the extents that are known already.
SizeRule size_rule(const std::map<SizeClass, StepSchedule>& schedules, const KnownExtents& known);

}  // namespace attune
