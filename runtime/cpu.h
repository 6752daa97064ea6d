/// What this machine can run and what it is: features and kind of its CPU, and drivers of its devices.
#pragma once

#include <string>
#include <string_view>

#include "runtime/abi.h"

namespace attune {

/// Asked for while code objects are chosen; a test has answers of its own.
class Capabilities {
 public:
  virtual ~Capabilities() = default;
  /// `feature` in GCC's spelling, as -m takes it; false for names that are not known. Of this machine a process that asks for AMX's tiles
  /// (amx-tile) is given them by Linux, if it may have them, for all of its threads.
  virtual bool has_feature(std::string_view feature) const = 0;
  /// Whether the CPU is of the kind: a vendor, "amd" or "intel", or one with the family that CPUID gives, in decimal: "amd/25" is Zen 3 and Zen 4.
  virtual bool is_cpu(std::string_view kind) const = 0;
  /// Why kernels cannot run on the device; empty if they can.
  virtual std::string device_problem(attune_device device) const = 0;
};

/// Whether the machine's CPU is of one of the kinds, which blanks separate: "amd/25 amd/26".
bool is_tuned_for(std::string_view cpus, const Capabilities& machine);

/// The kind of this machine's CPU, the vendor with the family: "amd/25"; empty where neither is known.
std::string kind_of_cpu();

/// Of the machine that runs this program. A feature counts if CPU and operating system both have it.
/// Whether drivers have devices is not asked: a device counts if its driver is there.
const Capabilities& this_machine();

/// The same machine, where a device counts if its driver has one: asking that wakes the drivers, which takes them long.
const Capabilities& this_machine_with_devices();

}  // namespace attune
