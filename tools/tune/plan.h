/// What there is to tune: the stages of a kernel that calls of the given shapes reach.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/attune/file_inputs.h"
#include "tools/attune/options.h"
#include "tools/tune/duel.h"
#include "tools/tune/search.h"

namespace attune {

/// The parameters of a schedule for calls of one size, for all stages of the kernel that have this key.
struct TuneTask {
  std::string kind, schedule;
  SizeClass size = SizeClass::large;
  StageKey key;
  Space space;
  Point by_default, start;         ///< what the defaults say (those of --tuned before the built-in ones), and what a kernel takes so far
  std::int64_t small_up_to = 0;    ///< as records have it
  std::vector<std::size_t> calls;  ///< the shapes of the plan that reach it

  /// "online_softmax, large"
  std::string title() const { return kind + ", " + std::string(name_of(size)); }
  /// "query_tile=8, key_tile=64"
  std::string describe(const Point& point) const;
  /// Attention is worth more time than products, and these more than the rest.
  double weight() const { return kind == "online_softmax" ? 4 : kind == "gemm" ? 2 : 1; }
};

struct TunePlan {
  std::vector<TuneTask> tasks;
  std::vector<DuelCall> calls;      ///< a call of each shape
  std::vector<std::string> shapes;  ///< as text
  DuelCall check;                   ///< a small call with odd extents, with the interpreter's outputs
  /// For each size that the kernel chooses at the call, the dims whose extents say so: small (few, tiny) calls have none that is longer than a limit.
  std::map<SizeClass, std::vector<std::string>> row_dims;
  std::string problem;

  /// The call with another extent of these dims.
  DuelCall with_rows(const Prepared& prepared, const DuelCall& call, SizeClass size, std::int64_t extent) const;
};

/// The plan for the target; shapes as --shape gives them, and inputs of files in place of random ones, a file for all shapes or one for each. The problem is one of the shapes or inputs.
TunePlan make_plan(const Prepared& prepared, const TargetInfo& target, const std::vector<std::string>& shapes, const FileInputs& given = {});

}  // namespace attune
