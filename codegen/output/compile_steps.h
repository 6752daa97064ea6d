/// The codes of a kernel's steps for its targets.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/output/manifest.h"
#include "codegen/steps/steps.h"
#include "codegen/targets/targets.h"
#include "schedules/records/choice.h"

namespace attune {

struct StepOptions {
  std::span<const TargetInfo* const> targets;
  ScheduleChoice schedule;
  std::optional<SizeClass> size;  ///< whose schedules all calls take where a step has them; each those of its own without it
  /// The extents of all free dims of calls: codes that none of these takes are not compiled,
  /// and any other call takes one that is. Empty: all codes are.
  std::vector<KnownExtents> calls;
  bool has_machine_code = false;  ///< as CodeRequest of codegen/steps/code_generator.h
  std::string symbol;             ///< what the codes' symbols begin with
  int jobs = 0;                   ///< how many processes compile at once; as many as this machine has CPUs without it
  /// A folder of codes: what stands there is taken, what does not is compiled and put there. Empty: none. It is for one compiler, which may change;
  /// kernels of any variants share it.
  std::string codes_folder;
};

/// `objects` are bytes of object files that define the symbols of the steps' codes. Equal steps have the same. The bytes are the same for any number
/// of jobs.
struct CompiledSteps {
  std::vector<std::string> objects;
  std::vector<std::vector<Manifest::Code>> codes;  ///< of each step
  std::string problem;
};

/// Each condition's dim is its number in `plan.dims`.
CompiledSteps compile_steps(const KernelSteps& plan, const StepOptions& options);

}  // namespace attune
