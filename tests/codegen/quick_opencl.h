/// OpenCL on the CPU for kernels that tests call once.
#pragma once

#include <cstdlib>

namespace attune {

/// PoCL compiles a kernel in 0.7 of the time where it optimises less, and runs it in several times as much, of which small calls have little; where
/// loops are long, as sums that are no products have them, it is slower altogether. (Other drivers do not ask for the variable; other tests run what
/// PoCL optimises.)
class QuickOpencl {
 public:
  QuickOpencl() { setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1); }
  ~QuickOpencl() { unsetenv("POCL_EXTRA_BUILD_FLAGS"); }
  QuickOpencl(const QuickOpencl&) = delete;
  QuickOpencl& operator=(const QuickOpencl&) = delete;
};

}  // namespace attune
