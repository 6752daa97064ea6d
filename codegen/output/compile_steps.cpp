#include "codegen/output/compile_steps.h"

#include <fmt/format.h>

#include <llvm/Support/xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "codegen/dialect/extents.h"
#include "codegen/files/jobs.h"
#include "codegen/files/whole_file.h"
#include "codegen/output/code_generators.h"

namespace attune {
namespace {

std::string symbol_part(std::string_view text) {
  std::string part(text);
  std::ranges::replace(part, '-', '_');
  return part;
}

std::string hash_of(const std::string& text) {
  const auto hash = llvm::xxh3_128bits({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// "gemm,packed=1,row_tile=6"
std::string describe(const StepSchedule& schedule) {
  std::string text = schedule.name;
  for (const Parameter& p : schedule.parameters) text += fmt::format(",{}={}", p.name, p.value);
  for (const StepSchedule& beside : schedule.beside) text += fmt::format("; on {} {}", beside.devices, describe(beside));
  return text;
}
/// "large: gemm,packed=1,row_tile=6"
std::string describe(const StepSchedule& schedule, SizeClass size) { return fmt::format("{}: {}", name_of(size), describe(schedule)); }

class StepCompiler {
 public:
  StepCompiler(const KernelSteps& plan, const StepOptions& options) : plan_(plan), options_(options), codes_(plan.steps.size()) {
    for (const KnownExtents& call : options.calls) calls_.push_back(all_extents(call));
  }

  CompiledSteps run() {
    for (const TargetInfo* target : options_.targets)
      for (std::size_t number = 0; number < plan_.steps.size(); ++number)
        if (std::string problem = add(number, *target); !problem.empty()) return {{}, {}, std::move(problem)};
    if (std::string problem = size_problem(); !problem.empty()) return {{}, {}, std::move(problem)};
    CompiledSteps compiled{{}, std::move(codes_), {}};
    std::vector<std::function<JobResult()>> jobs;
    for (Code& code : wanted_)
      if (code.object = kept(code); code.object.empty()) jobs.push_back(code.job);
    std::vector<JobResult> results = run_jobs(jobs, options_.jobs > 0 ? options_.jobs : jobs_of_this_machine());
    auto result = results.begin();
    for (Code& code : wanted_) {
      if (code.object.empty()) {
        if (!result->problem.empty()) return {{}, {}, std::move(result->problem)};
        code.object = std::move((result++)->bytes);
        if (std::string problem = keep(code); !problem.empty()) return {{}, {}, std::move(problem)};
      }
      compiled.objects.push_back(std::move(code.object));
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
    const std::vector<SizeClass> taken = sizes_taken(schedules.rule);
    for (const SizeRule::Entry& entry : schedules.rule.entries) {
      const SizeClass size = taken.empty() || std::ranges::find(taken, entry.size) != taken.end() ? entry.size : taken.back();
      const std::string schedule = describe(schedules.of.at(size), size);
      const std::string& symbol = symbol_for(number, target, size, schedule);
      const std::string shared_bytes = target.device == Device::cpu ? std::string() : symbol + "_shared_bytes";
      Manifest::Code code{std::string(target.name),
                          schedule,
                          std::string(target.features),
                          std::string(target.cpus),
                          symbol + "_argv",
                          static_cast<int>(target.device),
                          {},
                          shared_bytes};
      for (const ExtentLimit& limit : entry.limits) code.conditions.push_back({number_of(limit.dim), limit.smallest, limit.largest});
      codes_[number].push_back(std::move(code));
    }
    return {};
  }

  /// Those of the calls that are asked for.
  std::vector<SizeClass> sizes_taken(const SizeRule& rule) const {
    std::vector<SizeClass> taken;
    for (const KnownExtents& call : calls_) taken.push_back(rule.size_of(call));
    return taken;
  }

  /// With those of dims that only the compiler makes.
  KnownExtents all_extents(const KnownExtents& call) const {
    KnownExtents all = call;
    all.insert(plan_.known.begin(), plan_.known.end());
    for (const DimInfo& info : plan_.dims)
      if (const std::optional<std::int64_t> extent = evaluate(info.derivation, all)) all.try_emplace(std::string(info.name()), *extent);
    return all;
  }

  /// Of the code that equal steps share; the first of them makes it.
  const std::string& symbol_for(std::size_t number, const TargetInfo& target, SizeClass size, const std::string& schedule) {
    const Step& step = plan_.steps[number];
    const auto [place, is_new] = symbols_.try_emplace(std::tuple(step.identity, &target, size));
    if (!is_new) return place->second;
    const std::string key = fmt::format("{}\n{}\n{}\n{}", target.name, name_of(size), schedule, step.identity);
    // A kept code is called by what it is: other kernels take it, whatever their stages are called and which they are.
    place->second = options_.codes_folder.empty() ? fmt::format("{}_{}_{}_{}", options_.symbol, number, symbol_part(target.name), name_of(size))
                                                  : "attune_code_" + hash_of(key);
    const auto job = [this, &step, &target, size, symbol = place->second]() -> JobResult {
      CodeAnswer made = code_of({plan_, step, target, size, options_.schedule, options_.has_machine_code}, symbol, CodeForm::object);
      return {std::move(made.bytes), std::move(made.problem)};
    };
    wanted_.push_back({key, job, {}});
    return place->second;
  }

  /// A code of the kernel: everything that its object depends on, how it is made, and the bytes.
  struct Code {
    std::string key;
    std::function<JobResult()> job;
    std::string object;
  };

  std::filesystem::path place_of(const Code& code) const {
    return std::filesystem::path(options_.codes_folder) / (hash_of(code.key) + ".o");
  }
  /// What stands in the folder of codes; empty if it does not.
  std::string kept(const Code& code) const {
    if (options_.codes_folder.empty()) return {};
    std::ifstream file(place_of(code), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string keep(const Code& code) const { return options_.codes_folder.empty() ? std::string() : write_whole(place_of(code), {code.object}); }

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
  std::vector<KnownExtents> calls_;  // with the extents of all dims
  std::vector<std::vector<Manifest::Code>> codes_;
  std::vector<SizeClass> sizes_;  // that any step tells apart
  bool has_size_ = false;
  std::map<std::tuple<std::string, const TargetInfo*, SizeClass>, std::string> symbols_;
  std::vector<Code> wanted_;
};

}  // namespace

CompiledSteps compile_steps(const KernelSteps& plan, const StepOptions& options) { return StepCompiler(plan, options).run(); }

}  // namespace attune
