#include "codegen/output/code_generators.h"

#include <fmt/ranges.h>

#include <array>
#include <set>

#include "codegen/halide/halide_generator.h"
#include "codegen/tensor_cores/tensor_cores_generator.h"

namespace attune {
namespace {

const std::array generators = {tensor_cores_generator(), halide_generator()};

}  // namespace

GeneratorAnswer generator_of(const CodeRequest& request) {
  GeneratorAnswer first;
  std::string declined;
  for (const CodeGenerator& generator : generators) {
    GeneratorAnswer answer{generator.schedule(request), &generator};
    if (!answer.has_schedule && !answer.problem.empty()) declined += (declined.empty() ? "" : "; ") + answer.problem;
    if (answer.schedule.declined.empty()) answer.schedule.declined = declined;
    if (answer.has_schedule && answer.schedule.name == request.choice.name) return answer;
    if (!first.has_schedule || first.generator == nullptr) first = std::move(answer);
  }
  return first;
}

StepSchedules schedules_of(const KernelSteps& plan, const Step& step, const TargetInfo& target, const ScheduleChoice& choice) {
  StepSchedules schedules;
  for (const SizeClass size : size_classes) {
    GeneratorAnswer answer = generator_of({plan, step, target, size, choice});
    if (!answer.problem.empty()) return {{}, {}, std::move(answer.problem)};
    schedules.of.emplace(size, std::move(answer.schedule));
  }
  schedules.rule = size_rule(schedules.of, plan.known);
  return schedules;
}

std::string untaken_problem(const ScheduleChoice& choice, std::span<const StepSchedules> steps) {
  if (choice.name.empty()) return {};
  std::set<std::string> taken;
  std::string declined;
  const auto add = [&](const StepSchedule& schedule) {
    taken.insert(schedule.name);
    if (!schedule.declined.empty() && declined.find(schedule.declined) == std::string::npos) declined += (declined.empty() ? ": " : "; ") + schedule.declined;
  };
  for (const StepSchedules& step : steps)
    for (const SizeRule::Entry& entry : step.rule.entries) {
      const StepSchedule& schedule = step.of.at(entry.size);
      add(schedule);
      for (const StepSchedule& beside : schedule.beside) add(beside);
    }
  if (taken.contains(choice.name)) return {};
  return fmt::format("schedule '{}': no stage of the kernel takes it{}; its stages take {}", choice.name, declined, fmt::join(taken, ", "));
}

CodeAnswer code_of(const CodeRequest& request, const std::string& symbol, CodeForm form) {
  const GeneratorAnswer answer = generator_of(request);
  return answer.problem.empty() ? answer.generator->code(request, symbol, form) : CodeAnswer{{}, answer.problem};
}

}  // namespace attune
