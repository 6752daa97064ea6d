#include "codegen/steps/size_rule.h"

#include <algorithm>
#include <optional>

namespace attune {
namespace {

/// The limits that extents beyond the known ones must keep, each dim once; nothing if a known one breaks its limit, or any extent would.
std::optional<std::vector<ExtentLimit>> open_limits(const std::vector<ExtentLimit>& limits, const KnownExtents& known) {
  std::vector<ExtentLimit> open;
  for (const ExtentLimit& limit : limits) {
    const auto extent = known.find(limit.dim);
    if (extent != known.end()) {
      if (!limit.holds(extent->second)) return {};
      continue;
    }
    const auto same = std::ranges::find(open, limit.dim, &ExtentLimit::dim);
    if (same == open.end()) {
      open.push_back(limit);
      continue;
    }
    same->smallest = std::max(same->smallest, limit.smallest);
    same->largest = std::min(same->largest, limit.largest);
    if (same->smallest > same->largest) return {};
  }
  return open;
}

/// Calls that keep `limits` all keep those of the earlier entry, too, and take that.
bool are_all_taken_by(const SizeRule::Entry& earlier, const std::vector<ExtentLimit>& limits) {
  return std::ranges::all_of(earlier.limits, [&](const ExtentLimit& wide) {
    const auto narrow = std::ranges::find(limits, wide.dim, &ExtentLimit::dim);
    return narrow != limits.end() && wide.smallest <= narrow->smallest && narrow->largest <= wide.largest;
  });
}

}  // namespace

bool SizeRule::has(SizeClass size) const { return std::ranges::find(entries, size, &Entry::size) != entries.end(); }

SizeClass SizeRule::size_of(const KnownExtents& extents) const {
  const auto holds = [&](const ExtentLimit& limit) { return limit.holds(extents.find(limit.dim)->second); };
  return std::ranges::find_if(entries, [&](const Entry& entry) { return std::ranges::all_of(entry.limits, holds); })->size;
}

bool SizeRule::keep_only(SizeClass size) {
  if (!has(size)) return false;
  entries = {{size, {}}};
  return true;
}

SizeRule size_rule(const std::map<SizeClass, StepSchedule>& schedules, const KnownExtents& known) {
  SizeRule rule;
  for (const SizeClass size : size_classes) {
    if (size == SizeClass::large) break;
    const StepSchedule& schedule = schedules.at(size);
    // All schedules have values for small calls; for tiny ones and few queries only those do that are made, or were chosen by a record, for them.
    if (!schedule.limits || (size != SizeClass::small && !schedule.is_made_for_size)) continue;
    const auto limits = open_limits(*schedule.limits, known);
    if (!limits) continue;
    if (std::ranges::any_of(rule.entries, [&](const SizeRule::Entry& earlier) { return are_all_taken_by(earlier, *limits); })) continue;
    rule.entries.push_back({size, *limits});
    if (limits->empty()) return rule;
  }
  rule.entries.push_back({SizeClass::large, {}});
  return rule;
}

}  // namespace attune
