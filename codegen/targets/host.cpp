// Which targets this machine can run, as the runtime asks when it opens a kernel file.
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

std::string lacking_features(const TargetInfo& target) {
  std::istringstream features{std::string(target.features)};
  std::string lacking;
  for (std::string feature; features >> feature;)
    if (!this_machine().has_feature(feature)) lacking += (lacking.empty() ? "" : " ") + feature;
  return lacking;
}

bool runs_here(const TargetInfo& target) { return target.device == Device::cpu && opens_here(target) && lacking_features(target).empty(); }

bool is_tuned_for_this_cpu(const TargetInfo& target) { return is_tuned_for(target.cpus, this_machine()); }

const TargetInfo* best_here(std::span<const TargetInfo* const> rows) {
  const TargetInfo* best = nullptr;
  for (const TargetInfo* row : rows) {
    if (!runs_here(*row)) continue;
    if (is_tuned_for_this_cpu(*row)) return row;
    if (best == nullptr) best = row;
  }
  return best;
}

const TargetInfo* find_target(std::string_view name) {
  std::vector<const TargetInfo*> all;
  for (const TargetInfo& target : targets()) {
    if (target.name == name) return &target;
    all.push_back(&target);
  }
  return name == "host" ? best_here(all) : nullptr;
}

}  // namespace attune
