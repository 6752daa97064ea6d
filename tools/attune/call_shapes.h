/// Shapes of calls that reach all schedules of a kernel.
#pragma once

#include <string>
#include <vector>

#include "tools/attune/work.h"

namespace attune {

/// Calls of the shape take the schedules for the size: "whole_rows", or "gemm, split_keys" of several stages.
struct CallShape {
  SizeClass size;
  Shape extents;
  std::string schedules;
};
CallShape call_shape(const KernelReport& report, const Shape& extents);

/// One shape for each size of call that the kernel tells apart on the target, in the order in which a call tries them. Extents are odd where they may
/// be. Those of calls of few queries and of large ones go beyond one tile of keys and queries; other dims are short where
/// values would become large. A size that no shape was found for is not in the list.
std::vector<CallShape> shapes_of_sizes(const Prepared& prepared, const KernelReport& report, const TargetInfo& target);

}  // namespace attune
