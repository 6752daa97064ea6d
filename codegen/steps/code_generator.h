/// The seam between the compiler and what generates code: how a step is asked for its schedules and its code, whoever makes them.
#pragma once

#include <string>
#include <string_view>

#include "codegen/steps/step_schedule.h"
#include "codegen/steps/steps.h"
#include "codegen/targets/targets.h"
#include "schedules/records/choice.h"

namespace attune {

/// A step for calls of one size on a target.
struct CodeRequest {
  const KernelSteps& plan;
  const Step& step;
  const TargetInfo& target;
  SizeClass size;
  const ScheduleChoice& choice;
  bool has_machine_code = false;  ///< of CUDA: beside PTX, where that can be made (codegen/files/cuda_image.h)
};

/// The schedule for the calls, or the problem in words: a parameter that no schedule has, a value that is not legal, a stage that the generator
/// has no schedule for.
struct StepScheduleAnswer {
  StepSchedule schedule;  ///< with a problem its name alone
  std::string problem;
  bool has_schedule = true;  ///< the generator has one for the stage, whatever is wrong with its parameters
};

/// What is wanted of a step's code: an object file; or for people, as text, its loops or its instructions.
enum class CodeForm { object, loops, assembly };

struct CodeAnswer {
  std::string bytes, problem;
};

/// One of the list in codegen/output/code_generators.cpp.
struct CodeGenerator {
  std::string_view name;
  StepScheduleAnswer (*schedule)(const CodeRequest& request);
  /// Of a request that `schedule` answers. The object defines the function SYMBOL_argv, which takes void** arguments as runtime/abi.h says: the
  /// tensors that the step reads, the extents of its dims, the tensors that it writes. For a device it holds the device's code, too, and the function
  /// `int SYMBOL_shared_bytes(void)`: the most memory that a block of its threads shares, of kernels for all devices of the kind.
  CodeAnswer (*code)(const CodeRequest& request, const std::string& symbol, CodeForm form);
};

}  // namespace attune
