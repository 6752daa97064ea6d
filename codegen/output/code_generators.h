/// The list of code generators, and what they say of a step together.
#pragma once

#include <map>
#include <span>
#include <string>

#include "codegen/steps/code_generator.h"
#include "codegen/steps/size_rule.h"

namespace attune {

/// The generator of the step's code: the one whose schedule the command line names, else the first that has a schedule for it.
struct GeneratorAnswer : StepScheduleAnswer {
  const CodeGenerator* generator = nullptr;
};
GeneratorAnswer generator_of(const CodeRequest& request);

/// A step's schedules: for each size one, and which of them a call takes; the first problem otherwise.
struct StepSchedules {
  std::map<SizeClass, StepSchedule> of;
  SizeRule rule;
  std::string problem;
};
StepSchedules schedules_of(const KernelSteps& plan, const Step& step, const TargetInfo& target, const ScheduleChoice& choice);

/// A sentence if the choice names a schedule that none of these steps takes for calls of any size; empty if one does, or none is named.
std::string untaken_problem(const ScheduleChoice& choice, std::span<const StepSchedules> steps);

CodeAnswer code_of(const CodeRequest& request, const std::string& symbol, CodeForm form);

}  // namespace attune
