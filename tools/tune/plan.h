/// What there is to tune: the stages of a kernel that calls of the given shapes reach.
#pragma once

#include <string>
#include <vector>

#include "schedules/tuning/search.h"
#include "tools/attune/options.h"
#include "tools/tune/duel.h"

namespace attune {

/// The parameters of a schedule for calls of one size, for all stages of the kernel that have this key.
struct TuneTask {
  std::string kind, schedule;
  SizeClass size = SizeClass::large;
  StageKey key;
  Space space;
  Point by_default, start;         ///< what the default says, and what a kernel takes so far
  std::int64_t small_up_to = 0;    ///< as records have it
  std::vector<std::size_t> calls;  ///< the shapes of the plan that reach it

  /// "online_softmax, large"
  std::string title() const { return kind + ", " + std::string(name_of(size)); }
};

struct TunePlan {
  std::vector<TuneTask> tasks;
  std::vector<DuelCall> calls;      ///< a call of each shape
  std::vector<std::string> shapes;  ///< as text
  DuelCall check;                   ///< a small call with odd extents, with the interpreter's outputs
  std::string small_dim;            ///< by which the kernel tells small calls from large ones; empty where that is not one dim alone
  std::string problem;

  /// The call with another extent of that dim.
  DuelCall with_extent(const Prepared& prepared, const DuelCall& call, std::int64_t extent) const;
};

/// The plan for the target; shapes as --shape gives them. The problem is one of the shapes.
TunePlan make_plan(const Prepared& prepared, const TargetInfo& target, const std::vector<std::string>& shapes);

}  // namespace attune
