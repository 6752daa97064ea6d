/// What this machine can run: features of its CPU and drivers of its devices.
#pragma once

#include <string>
#include <string_view>

#include "runtime/abi.h"

namespace attune {

/// Asked for while code objects are chosen; a test has answers of its own.
class Capabilities {
 public:
  virtual ~Capabilities() = default;
  /// `feature` in GCC's spelling, as -m takes it; false for names that are not known.
  virtual bool has_feature(std::string_view feature) const = 0;
  /// Why kernels cannot run on the device; empty if they can.
  virtual std::string device_problem(attune_device device) const = 0;
};

/// Of the machine that runs this program. A feature counts if CPU and operating system both have it.
const Capabilities& this_machine();

}  // namespace attune
