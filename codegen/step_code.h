/// A step's code for calls of one size on a target: its schedule, and the Halide pipeline that it makes.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

#include "codegen/step_schedule.h"
#include "codegen/size_rule.h"
#include "codegen/steps.h"
#include "codegen/targets.h"
#include "schedules/choice.h"

namespace attune {

/// The schedule for calls of a size, or the problem in words: a parameter that no schedule has, a value that is not legal, a stage for which the
/// target has no schedule.
struct StepScheduleAnswer {
  StepSchedule schedule;
  std::string problem;
};
StepScheduleAnswer schedule_of(const KernelSteps& plan, const Step& step, const TargetInfo& target, SizeClass size, const ScheduleChoice& choice);

/// Those of a step: for each size one, and which of them a call takes; the first problem otherwise.
struct StepSchedules {
  std::map<SizeClass, StepSchedule> of;
  SizeRule rule;
  std::string problem;
};
StepSchedules schedules_of(const KernelSteps& plan, const Step& step, const TargetInfo& target, const ScheduleChoice& choice);

/// `pipeline` computes the tensors that the step writes; its arguments are those that it reads, then the extents of the step's dims.
struct StepPipeline {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
};

/// Of a step and size that schedule_of has a schedule for. Throws Halide::Error.
StepPipeline lower_step(const KernelSteps& plan, const Step& step, const TargetInfo& target, SizeClass size, const ScheduleChoice& choice);

/// The module of the pipeline, whose function takes void** arguments as runtime/abi.h says and is called SYMBOL_argv.
Halide::Module module_of(const StepPipeline& lowered, const TargetInfo& target, const std::string& symbol);

}  // namespace attune
