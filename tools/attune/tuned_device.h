/// The machine that `attune tune` measures on.
#pragma once

#include <string>

#include "codegen/targets/targets.h"

namespace attune {

/// A device that calls run on, its capability and its name; or the problem in words. Asked in a child: processes that are forked after a driver was
/// asked cannot use it.
struct TunedDevice {
  std::string text, capability, name, problem;
};
/// `which` is what --device says, or nothing: the driver's first. A CPU has a name alone.
TunedDevice tuned_device(const TargetInfo& target, const std::string& which);

}  // namespace attune
