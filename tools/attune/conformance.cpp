#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "codegen/files/jobs.h"
#include "tools/attune/commands.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/mlir_text.h"
#include "tools/attune/trial.h"
#include "tools/attune/work.h"
#include "tools/onnx/ready_case.h"

namespace attune {
namespace {

struct ConformanceOptions {
  std::string directory, targets = "host";
  bool is_interpreted = false;
  int jobs = 0;
};

/// A case made ready, and the extents of all dims.
struct Conformer : ReadyCase {
  Shape extents;
};

/// The case made ready, or the problem in words.
std::string make_ready(const std::filesystem::path& folder, Conformer& ready) {
  static_cast<ReadyCase&>(ready) = ready_case(folder);
  if (!ready.problem.empty()) return ready.problem;
  const Bound bound = bind_extents(ready.node.graph, ready.inputs);
  if (!bound.problem.empty()) return bound.problem;
  ready.extents = Shape(bound.extents.begin(), bound.extents.end());
  if (std::string problem = memory_problem(ready.node.graph, ready.extents, rounding_lanes, "case.json"); !problem.empty()) return problem;
  find_rounding(ready.one, ready.node.graph, ready.inputs);
  return {};
}

using Outputs = std::map<std::string, Array, std::less<>>;

/// A letter, 'p' or 'f', and the line about the case.
std::string verdict(const Conformer& ready, const Outputs& outputs) {
  double worst = 0;
  std::string differences;
  for (const auto& [name, expected] : ready.one.outputs) {
    const auto got = outputs.find(name);
    const OutputDifference difference = output_difference(ready.one, name, got->second.extents, got->second.data);
    worst = std::max(worst, difference.worst);
    if (!difference.text.empty()) differences += (differences.empty() ? ": " : "; ") + difference.text;
  }
  return fmt::format("{}{}: {}, largest error {:.3g}{}\n", differences.empty() ? 'p' : 'f', ready.one.name, differences.empty() ? "passed" : "failed",
                     worst, differences);
}
std::string failure(const Conformer& ready, const std::string& problem) { return fmt::format("f{}: failed: {}\n", ready.one.name, problem); }

std::string interpreted(const Conformer& ready) {
  const Interpretation result = interpret(ready.node.graph, ready.inputs);
  return result.problem.empty() ? verdict(ready, result.outputs) : failure(ready, result.problem);
}

/// Cases whose graphs and storage are the same, and what their kernels are compiled from.
struct KernelCases {
  Prepared prepared;
  KernelReport report;
  std::map<SizeClass, std::vector<const Conformer*>> by_size;
};

/// The size of call for which the stage of attention, or else the first that tells sizes apart, has its schedule.
SizeClass size_of(const KernelReport& report, const Shape& given) {
  const Shape extents = extents_in(report, given);
  std::optional<SizeClass> size;
  for (const StageReport& stage : report.stages)
    if (stage.sizes.entries.size() > 1 && (!size || stage.kind == "online_softmax")) size = stage.sizes.size_of(extents);
  return size.value_or(SizeClass::large);
}

/// A kernel that all the cases share, compiled for calls of their size.
std::string run_kernel(const Prepared& prepared, SizeClass size, const std::vector<const Conformer*>& cases) {
  std::string said;
  const OpenKernel open = open_kernel(prepared, {.size = size, .jobs = 1});
  for (const Conformer* ready : cases) {
    if (!open.problem.empty()) {
      said += failure(*ready, open.problem);
      continue;
    }
    Trial trial = trial_of(*open.kernel, ready->extents, ready->inputs);
    if (const Result<void> called = trial.call(*open.kernel); !called) {
      said += failure(*ready, called.error().message);
      continue;
    }
    Outputs outputs;
    for (std::size_t i = trial.input_count; i < trial.arrays.size(); ++i) {
      Array& output = outputs[std::string(open.kernel->outputs()[i - trial.input_count].name)];
      output.extents = trial.arrays[i].extents;
      output.data = numbers(trial.arrays[i]);
    }
    said += verdict(*ready, outputs);
  }
  return said;
}

/// What is left to do, each in a process of its own, with the cases that it is about.
struct Job {
  std::function<JobResult()> work;
  std::vector<const Conformer*> cases;
};

class Conformance {
 public:
  explicit Conformance(const ConformanceOptions& options) : options_(options) {}

  int run() {
    std::error_code error;
    const std::filesystem::path directory = options_.directory;
    if (!std::filesystem::is_directory(directory, error)) return refuse(fmt::format("'{}': is no folder; the folder that the cases are in is right", options_.directory));
    Options common;
    common.targets = options_.targets;
    PreparedTargets targets = prepare_targets(common);
    if (!targets.problem.empty()) return refuse(targets.problem);
    const std::vector<std::filesystem::path> folders = case_folders(directory);
    if (folders.empty()) return refuse(fmt::format("'{}': has no case.json in it or below it", options_.directory));
    for (const std::filesystem::path& folder : folders) add(folder, targets);
    return close(finished(jobs()));
  }

 private:
  void add(const std::filesystem::path& folder, const PreparedTargets& targets) {
    auto ready = std::make_unique<Conformer>();
    std::string problem = make_ready(folder, *ready);
    if (problem.empty() && !options_.is_interpreted) problem = find_kernel(*ready, targets);
    if (problem.empty()) return ready_.push_back(std::move(ready)), void();
    refuse(fmt::format("case '{}': {}", folder.string(), problem));
    ++refused_;
  }

  std::string find_kernel(const Conformer& ready, const PreparedTargets& targets) {
    Prepared prepared;
    prepared.targets = targets.targets;
    prepared.schedule = targets.schedule;
    prepared.graph.name = "node";
    prepared.graph.graph = ready.node.graph;
    if (std::string problem = read_types(ready.types, prepared.staging.specialisation); !problem.empty()) return problem;
    const MlirText text = mlir_text(prepared, false);
    if (!text.problem.empty()) return text.problem;
    const auto [place, is_new] = kernels_.try_emplace(ready.types + "\n" + text.text);
    if (is_new) {
      place->second.report = report_kernel(prepared, *prepared.targets[0]);
      if (!place->second.report.problem.empty()) return place->second.report.problem;
      place->second.prepared = std::move(prepared);
    }
    place->second.by_size[size_of(place->second.report, ready.extents)].push_back(&ready);
    return {};
  }

  std::vector<Job> jobs() const {
    std::vector<Job> jobs;
    if (options_.is_interpreted)
      for (const auto& ready : ready_) jobs.push_back({[&one = *ready] { return JobResult{interpreted(one), {}}; }, {ready.get()}});
    for (const auto& [key, kernel] : kernels_)
      for (const auto& [size, cases] : kernel.by_size)
        jobs.push_back({[&kernel, size, &cases] { return JobResult{run_kernel(kernel.prepared, size, cases), {}}; }, cases});
    return jobs;
  }

  /// The lines of all cases.
  std::string finished(const std::vector<Job>& jobs) const {
    std::vector<std::function<JobResult()>> work;
    for (const Job& job : jobs) work.push_back(job.work);
    const std::vector<JobResult> results = run_jobs(work, options_.jobs == 0 ? jobs_of_this_machine() : options_.jobs);
    std::string said;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      said += results[i].bytes;
      if (results[i].problem.empty()) continue;
      for (const Conformer* ready : jobs[i].cases) said += failure(*ready, results[i].problem);
    }
    return said;
  }

  int close(const std::string& said) const {
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < said.size(); at = said.find('\n', at) + 1)
      lines.push_back(std::string_view(said).substr(at, said.find('\n', at) - at));
    std::ranges::sort(lines, {}, [](std::string_view line) { return line.substr(1); });
    for (const std::string_view line : lines) fmt::print("{}\n", line.substr(1));
    const auto failed = std::ranges::count_if(lines, [](std::string_view line) { return line[0] == 'f'; });
    fmt::print("{} passed, {} failed{}\n", std::ssize(lines) - failed, failed, refused_ == 0 ? "" : fmt::format(", {} refused", refused_));
    return refused_ != 0 ? wrong_input : failed != 0 ? check_failed : 0;
  }

  const ConformanceOptions& options_;
  std::vector<std::unique_ptr<Conformer>> ready_;
  std::map<std::string, KernelCases> kernels_;
  int refused_ = 0;
};

}  // namespace

void add_conformance(Program& program) {
  auto options = std::make_shared<ConformanceOptions>();
  const Command command = program.command("conformance", "Run ONNX's cases of attention in compiled kernels, and compare with what ONNX expects");
  command.text("DIR", options->directory, "A folder; each folder in it or below that has a case.json is a case", Need::required);
  command.flag("--interpret", options->is_interpreted, "Interpret the graphs in double precision; nothing is compiled");
  command.text("--target", options->targets, "What to compile for; attune list targets");
  command.number("--jobs", options->jobs, 1, 1024, "How many kernels are compiled and called at once; as many as the machine has CPUs without it");
  command.footer(
      "Operators: Attention (opsets 23 to 25), FlexAttention, LinearAttention and RotaryEmbedding; docs/onnx.md has the format of a case. A kernel serves all cases that differ in\n"
      "extents alone and are calls of one size. The exit status is 1 if a case fails, and 2 if one cannot be read or is of something else.\n"
      "Examples:\n"
      "  attune conformance cases --interpret\n"
      "  attune conformance cases --jobs 2");
  command.action([options] { return Conformance(*options).run(); });
}

}  // namespace attune
