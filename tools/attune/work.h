/// What a kernel is made of and what it does for given extents, for the commands that explain and measure it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/steps/size_rule.h"
#include "codegen/steps/step_schedule.h"
#include "codegen/steps/steps.h"
#include "tools/attune/options.h"
#include "tools/measure/visible.h"

namespace attune {

/// What a stage stores, as other stages find it in memory.
struct ResultReport {
  std::string name;
  std::vector<std::string> dims;  ///< outermost first
  int element_bytes = 0;
};

/// A stage as it is called: what it stores, of which operations, and its schedule for calls of each size.
struct StageReport {
  std::string kind, reason;
  std::vector<std::string> reads;       ///< names of tensors
  std::vector<ResultReport> writes;
  std::vector<std::string> operations;  ///< in order
  StageKey key;                         ///< of its records; of a copy none
  std::map<SizeClass, StepSchedule> schedules;
  SizeRule sizes;                       ///< which of them a call takes
  std::size_t place = 0;                ///< of the stage among those that were formed
  std::size_t code = 0;                 ///< the first stage whose code is this one's, too: its own number, or an earlier one's

  /// The schedule for the extents of all dims.
  const StepSchedule& schedule_for(const Shape& extents) const { return schedules.at(sizes.size_of(extents)); }
  std::optional<KeyWalk> walk;          ///< of attention in tiles: all but these
};

struct KernelReport {
  std::vector<StageReport> stages;
  std::vector<Sweep> sweeps;   ///< which stages are called block by block; their steps' numbers are those of stages
  Graph staged;                ///< the nodes of walks are its
  std::shared_ptr<void> owner; ///< names in it live as long
  std::string problem;
};
KernelReport report_kernel(const Prepared& prepared, const TargetInfo& target);

/// The extents of all dims of `staged`, some of which only the compiler makes.
Shape extents_in(const KernelReport& report, const Shape& extents);

/// The dim of a softmax's weights, or of others, that stands for queries: `queries` if they have it; else, as the compiler takes it, the last that the
/// values which they are summed with lack; or their last dim but the keys where there are none. `queries`, too, where they have no other dim.
Name queries_of(const Graph& graph, int weights, Name keys);

/// How a stage walks over the keys of a call, with the tiles of the schedule that the call takes; nothing of a stage that is no attention in tiles.
std::optional<KeyWalk> walk_of(const StageReport& stage, const Shape& extents);

/// For one call. Inputs decide only where masks of `staged` read them (mask_inputs).
struct Work {
  std::vector<SizeClass> sizes;    ///< whose schedule each stage takes
  double flops = 0;                ///< of the matmuls, over visible pairs only
  std::vector<VisiblePairs> pairs; ///< of each softmax, and of weights with masks that none makes
  std::vector<std::optional<Portion>> blocks;  ///< that each stage visits, if it is attention in tiles
  bool is_sparse = false;          ///< the masks of such a stage hide most pairs, and yet too few whole blocks to leave out

  /// Over all stages; none of none without any.
  Portion all_blocks() const;
};
Work work_of(const KernelReport& report, const Shape& extents, const Arrays& inputs);

/// The extents of --shape with those of --set and defaults for what neither says; the problem in words.
FilledShape fill_shape(const Prepared& prepared, const std::string& shape);

/// "batch=1,heads=8,...": the free dims.
std::string shape_text(const Graph& graph, const Shape& extents);

}  // namespace attune
