/// Which of a kernel's schedules a call takes.
#pragma once

#include <vector>

#include "codegen/element.h"
#include "codegen/targets.h"
#include "schedules/choice.h"

namespace attune {

struct Pipelines;

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

/// From what the stages say and the extents that are known already.
SizeRule size_rule(const Pipelines& pipelines, const KnownExtents& known, const TargetInfo& target);

}  // namespace attune
