// Which targets this machine can run, as the runtime asks when it opens a kernel file.
#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>

#include "codegen/targets/targets.h"
#include "runtime/cpu.h"

namespace attune {
namespace {

#if defined(__x86_64__)
constexpr std::string_view architecture = "x86_64-";
#else
constexpr std::string_view architecture = "aarch64-";
#endif

}  // namespace

bool opens_here(const TargetInfo& target) { return target.triple.starts_with(architecture); }

bool runs_here(const TargetInfo& target) {
  if (target.device != Device::cpu || !opens_here(target)) return false;
  std::istringstream features{std::string(target.features)};
  return std::all_of(std::istream_iterator<std::string>(features), std::istream_iterator<std::string>(),
                     [](const std::string& feature) { return this_machine().has_feature(feature); });
}

const TargetInfo* find_target(std::string_view name) {
  for (const TargetInfo& target : targets())
    if (target.name == name || (name == "host" && runs_here(target))) return &target;
  return nullptr;
}

}  // namespace attune
