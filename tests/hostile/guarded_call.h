/// One call of a kernel with all its tensors between guard pages.
#pragma once

#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "tests/hostile/guarded_scratch.h"
#include "tests/hostile/placed_array.h"
#include "tools/attune/trial.h"

namespace attune {

/// How a call is made. Outputs and all that is around elements hold `fill` before it.
struct How {
  Layout layout = Layout::contiguous;
  Flush flush = Flush::last;
  std::byte fill{0xff};
  int threads = 1;
  Workspace* workspace = nullptr;  ///< null: scratch blocks are guarded, where guard_scratch() took over
};

std::string text_of(const How& how);

/// The outputs' elements; or what was wrong: the call's refusal, a byte around the elements that was changed, a canary of a scratch block.
struct GuardedOutputs {
  std::vector<StoredArray> arrays;
  std::string problem;
};

/// Inputs are read-only while the kernel runs. A fault ends the process, so that this belongs into watched(). With Layout::broadcast the
/// outputs are contiguous, and the inputs must be the same all along their outermost dim.
GuardedOutputs call_guarded(const Kernel& kernel, const Trial& trial, const How& how);

/// Whether both are the same, bit by bit.
bool are_same(const std::vector<StoredArray>& a, const std::vector<StoredArray>& b);

}  // namespace attune
