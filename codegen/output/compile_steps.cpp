#include "codegen/output/compile_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "codegen/files/jobs.h"
#include "codegen/output/code_generators.h"

namespace attune {
namespace {

std::string symbol_part(std::string_view text) {
  std::string part(text);
  std::ranges::replace(part, '-', '_');
  return part;
}

/// "large: gemm,packed=1,row_tile=6"
std::string describe(const StepSchedule& schedule, SizeClass size) {
  std::string text = fmt::format("{}: {}", name_of(size), schedule.name);
  for (const Parameter& p : schedule.parameters) text += fmt::format(",{}={}", p.name, p.value);
  return text;
}

class StepCompiler {
 public:
  StepCompiler(const KernelSteps& plan, const StepOptions& options) : plan_(plan), options_(options), codes_(plan.steps.size()) {}

  CompiledSteps run() {
    for (const TargetInfo* target : options_.targets)
      for (std::size_t number = 0; number < plan_.steps.size(); ++number)
        if (std::string problem = add(number, *target); !problem.empty()) return {{}, {}, std::move(problem)};
    if (std::string problem = size_problem(); !problem.empty()) return {{}, {}, std::move(problem)};
    CompiledSteps compiled{{}, std::move(codes_), {}};
    for (JobResult& result : run_jobs(jobs_, options_.jobs > 0 ? options_.jobs : jobs_of_this_machine())) {
      if (!result.problem.empty()) return {{}, {}, std::move(result.problem)};
      compiled.objects.push_back(std::move(result.bytes));
    }
    return compiled;
  }

 private:
  /// The step's codes for the target; the problem in words.
  std::string add(std::size_t number, const TargetInfo& target) {
    const Step& step = plan_.steps[number];
    StepSchedules schedules = schedules_of(plan_, step, target, options_.schedule);
    if (!schedules.problem.empty()) return std::move(schedules.problem);
    for (const SizeRule::Entry& entry : schedules.rule.entries)
      if (std::ranges::find(sizes_, entry.size) == sizes_.end()) sizes_.push_back(entry.size);
    if (options_.size) has_size_ = schedules.rule.keep_only(*options_.size) || has_size_;
    for (const SizeRule::Entry& entry : schedules.rule.entries) {
      Manifest::Code code{std::string(target.name), describe(schedules.of.at(entry.size), entry.size), std::string(target.features),
                          symbol_for(number, target, entry.size) + "_argv", static_cast<int>(target.device), {}};
      for (const ExtentLimit& limit : entry.limits) code.conditions.push_back({number_of(limit.dim), limit.smallest, limit.largest});
      codes_[number].push_back(std::move(code));
    }
    return {};
  }

  /// Of the code that equal steps share; the first of them makes it.
  const std::string& symbol_for(std::size_t number, const TargetInfo& target, SizeClass size) {
    const Step& step = plan_.steps[number];
    const auto [place, is_new] = symbols_.try_emplace(std::tuple(step.identity, &target, size));
    if (!is_new) return place->second;
    place->second = fmt::format("{}_{}_{}_{}", options_.symbol, number, symbol_part(target.name), name_of(size));
    jobs_.emplace_back([this, &step, &target, size, symbol = place->second]() -> JobResult {
      CodeAnswer made = code_of({plan_, step, target, size, options_.schedule}, symbol, CodeForm::object);
      return {std::move(made.bytes), std::move(made.problem)};
    });
    return place->second;
  }

  int number_of(std::string_view dim) const {
    return static_cast<int>(std::ranges::find(plan_.dims, dim, [](const DimInfo& info) { return info.name(); }) - plan_.dims.begin());
  }

  std::string size_problem() {
    if (!options_.size || has_size_) return {};
    std::string names;
    for (const SizeClass size : size_classes)
      if (std::ranges::find(sizes_, size) != sizes_.end()) names += (names.empty() ? "" : ", ") + std::string(name_of(size));
    return fmt::format("size '{}': the kernel has no schedules for such calls; it has {}", name_of(*options_.size), names);
  }

  const KernelSteps& plan_;
  const StepOptions& options_;
  std::vector<std::vector<Manifest::Code>> codes_;
  std::vector<SizeClass> sizes_;  // that any step tells apart
  bool has_size_ = false;
  std::map<std::tuple<std::string, const TargetInfo*, SizeClass>, std::string> symbols_;
  std::vector<std::function<JobResult()>> jobs_;
};

}  // namespace

CompiledSteps compile_steps(const KernelSteps& plan, const StepOptions& options) { return StepCompiler(plan, options).run(); }

}  // namespace attune
