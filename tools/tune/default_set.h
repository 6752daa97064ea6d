/// The fixed set of stages that `attune tune --defaults` finds a machine's defaults with.
#pragma once

#include <string>
#include <vector>

#include "tools/tune/plan.h"

namespace attune {

/// Graphs whose calls reach every schedule for CPUs at every size of call that a kernel distinguishes: attention of two depths, with and without
/// a mask, linear layers, a softmax and a pointwise operation by themselves, and bf16 attention where the target has products of bf16.
/// `tuned` are files whose defaults come before the built-in ones, as --tuned gives them.
struct DefaultSet {
  std::vector<TuneSubject> subjects;
  std::string problem;
};
DefaultSet default_set(const TargetInfo& target, const std::vector<std::string>& tuned);

}  // namespace attune
