#include "codegen/size_rule.h"

#include <algorithm>

namespace attune {

SizeClass SizeRule::size_of(const KnownExtents& extents) const {
  const bool is_small = std::ranges::all_of(small_up_to, [&](const ExtentLimit& limit) { return extents.find(limit.dim)->second <= limit.largest; });
  return has_small && (is_small || !has_large) ? SizeClass::small : SizeClass::large;
}

SizeRule size_rule(const LoweredPipeline& small, const KnownExtents& known, const TargetInfo& target) {
  SizeRule rule;
  rule.has_small = !small.small_up_to.empty() && target.device == Device::cpu;
  for (const ExtentLimit& limit : small.small_up_to) {
    const auto extent = known.find(limit.dim);
    if (extent != known.end()) {
      rule.has_small &= extent->second <= limit.largest;
      continue;
    }
    const auto same = std::ranges::find(rule.small_up_to, limit.dim, &ExtentLimit::dim);
    if (same == rule.small_up_to.end()) rule.small_up_to.push_back(limit);
    else same->largest = std::min(same->largest, limit.largest);
  }
  rule.has_large = !rule.has_small || !rule.small_up_to.empty();
  if (!rule.has_small) rule.small_up_to.clear();
  return rule;
}

}  // namespace attune
