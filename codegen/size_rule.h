/// Which of a kernel's two schedules a call takes: the one for small calls, or the one for all others.
#pragma once

#include <vector>

#include "codegen/pipeline.h"
#include "codegen/tensor_type.h"

namespace attune {

/// A call is small if all of `small_up_to` hold, each dim standing there once. A kernel that has only one schedule takes it always.
struct SizeRule {
  bool has_small = false, has_large = true;
  std::vector<ExtentLimit> small_up_to;

  /// Which one a call of these extents takes; every dim of `small_up_to` has one.
  SizeClass size_of(const KnownExtents& extents) const;
};

/// From what the stages say (`small` is the pipeline lowered for small calls) and the extents that are known already.
SizeRule size_rule(const LoweredPipeline& small, const KnownExtents& known, const TargetInfo& target);

}  // namespace attune
