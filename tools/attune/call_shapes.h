/// Shapes of calls that reach all schedules of a kernel.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/attune/work.h"

namespace attune {

/// A stage's code, by the number of the first stage that has it, and for calls of which size.
using StageCode = std::pair<std::size_t, SizeClass>;

/// A call, and the codes that its stages take: "tiny whole_rows, small gemm, pointwise", the size where a stage tells sizes apart.
struct CallShape {
  Shape extents;
  std::set<StageCode> codes;
  std::string schedules;
};
CallShape call_shape(const KernelReport& report, const Shape& extents);

/// Shapes whose calls reach each code of the kernel on the target, tiny calls first. Extents are odd where they may be. Those of calls of few queries
/// and of large ones go beyond one tile of keys and queries; other dims are short where values would become large.
struct CallShapes {
  std::vector<CallShape> shapes;
  std::vector<StageCode> missed;  ///< that no shape was found for
};
CallShapes shapes_of_codes(const Prepared& prepared, const KernelReport& report, const TargetInfo& target);

}  // namespace attune
