#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>

#include "codegen/files/read_file.h"
#include "codegen/files/whole_file.h"
#include "runtime/storage.h"
#include "runtime/threads.h"
#include "tools/attune/commands.h"
#include "tools/attune/file_inputs.h"
#include "tools/attune/mlir_text.h"
#include "tools/attune/options.h"
#include "tools/attune/trial.h"
#include "tools/attune/tune_report.h"
#include "tools/attune/tuned_device.h"
#include "tools/tune/child.h"
#include "tools/tune/default_set.h"
#include "tools/tune/tuner.h"

namespace attune {
namespace {

struct TuneOptions : Options {
  std::vector<std::string> shapes, inputs;
  std::string budget, out, device;
  int threads = 0, tries = 0;
  std::uint64_t seed = 1;
  bool is_json = false, is_for_defaults = false;
};

constexpr double longest_budget_s = 1e6;  // eleven days

/// "90s", "2m" or "90" in seconds; 0 if it is none of them, or longer than anyone waits.
double seconds_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc{} || !(value > 0) || !(unit.empty() || unit == "s" || unit == "m")) return 0;
  const double seconds = unit == "m" ? 60 * value : value;
  return seconds <= longest_budget_s ? seconds : 0;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  gmtime_r(&now, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

/// What `attune compile` takes for the same graph.
std::vector<std::string> graph_arguments(const GraphRequest& graph) {
  std::vector<std::string> words{graph.graph};
  if (!graph.struct_name.empty()) words.insert(words.end(), {"--struct", graph.struct_name});
  for (const std::string& folder : graph.include_folders) words.insert(words.end(), {"-I", folder});
  for (const std::string& setting : graph.settings) words.insert(words.end(), {"--param", setting});
  return words;
}

/// The file that the records go to: what is there already, or an empty one for the target. The problem in words.
TunedFileAnswer file_for(const std::string& out, std::string_view target) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(out, error);
  if (error && status.type() != std::filesystem::file_type::not_found) return {{}, fmt::format("--out {}: {}", out, cannot_be_read(error))};
  if (!std::filesystem::exists(status)) {
    TunedFileAnswer fresh;
    fresh.file.name = out;
    fresh.file.target = target;
    return fresh;
  }
  TunedFileAnswer answer = read_tuned(out);
  if (answer.problem.empty() && answer.file.target != target)
    answer.problem = fmt::format("--out {}: is for target '{}'; this run tunes for '{}'", out, answer.file.target, target);
  return answer;
}

std::string write_records(const TunePlan& plan, const TuneResult& result, const TuneSettings& settings, const std::string& machine, TunedFile& file,
                          const std::string& out) {
  bool is_changed = false;
  for (const TunedTask& task : result.tasks) {
    if (!is_worth_a_record(task)) continue;
    const TuneTask& t = *task.task;
    const StageKey& key = t.keys.front();
    insert(file, {t.schedule, t.size, key.stage, key.types, key.extents, task.parameters, task.small_up_to,
                  {plan.shapes_of(t), machine, ATTUNE_VERSION_NUMBER, today(), settings.threads, task.default_ms, task.tuned_ms}},
           key.body);
    is_changed = true;
  }
  return is_changed ? write_whole(out, {tuned_text(file)}) : std::string();
}

/// A default for every schedule and size of calls: what the run found, and for what it does not measure what kernels of the target take so far.
std::string write_defaults(const TuneResult& result, const TuneSettings& settings, const ScheduleChoice& so_far, TunedFile& file,
                           const std::string& out) {
  file.defaults = default_records(machine_of(*find_target(settings.target)), so_far);
  for (const TunedTask& task : result.tasks)
    insert_default(file, {task.task->schedule, task.task->size, {}, {}, {}, task.parameters, task.small_up_to, {}});
  return write_whole(out, {tuned_text(file)});
}

/// What is wrong with the options, in words, or nothing.
std::string option_problem(const TuneOptions& options, const std::vector<const TargetInfo*>& targets, const ScheduleChoice& schedule) {
  if (seconds_of(options.budget) == 0) return fmt::format("--budget '{}': is not a time up to {:.0f}s; 90s and 2m are", options.budget, longest_budget_s);
  if (targets.size() > 1) return fmt::format("--target {}: tune takes one target", options.targets);
  const TargetInfo& target = *targets[0];
  if (target.device != Device::cpu) return {};
  if (!options.device.empty()) return fmt::format("--device {}: target '{}' is a CPU's; give --target of the device", options.device, target.name);
  if (!runs_here(target)) return fmt::format("target '{}': this machine cannot run it; attune list targets shows what it runs", target.name);
  if (!schedule.name.empty()) return fmt::format("--schedule {}: tune chooses parameters itself; only 'unfused' is taken", options.schedule);
  return {};
}

/// What stands beside --defaults and does not go with it, or is missing without it; the problem in words.
std::string presence_problem(const TuneOptions& options, const Command& command) {
  if (!options.is_for_defaults)
    return options.graph.graph.empty() ? command.missing("GRAPH") : options.shapes.empty() ? command.missing("--shape") : std::string();
  const std::pair<const char*, bool> others[] = {{"GRAPH", !options.graph.graph.empty()},      {"--struct", !options.graph.struct_name.empty()},
                                                 {"-I", !options.graph.include_folders.empty()},
                                                 {"--param", !options.graph.settings.empty()}, {"--set", !options.set.empty()},
                                                 {"--type", options.types != Options{}.types}, {"--schedule", !options.schedule.empty()},
                                                 {"--shape", !options.shapes.empty()},         {"--in", !options.inputs.empty()}};
  for (const auto& [name, is_there] : others)
    if (is_there) return fmt::format("--defaults: is for all graphs, and measured with those that it brings; {} does not go with it", name);
  if (options.out.empty()) return command.missing("--out");
  return {};
}

/// What is tuned: the graph that the options say, or what --defaults measures.
struct Subjects {
  std::vector<TuneSubject> subjects;
  ScheduleChoice schedule;
  const TargetInfo* target = nullptr;
  std::string problem;
};

Subjects no_subjects(std::string problem) { return {{}, {}, nullptr, std::move(problem)}; }

Subjects subject_of_options(const TuneOptions& options) {
  FileInputs given = read_inputs(options.inputs);
  if (!given.problem.empty()) return no_subjects(given.problem);
  Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return no_subjects(prepared.problem);
  if (const std::string problem = option_problem(options, prepared.targets, prepared.schedule); !problem.empty()) return no_subjects(problem);
  MlirText text;
  if (!options.graph.struct_name.empty()) text = mlir_text(prepared, false);
  if (!text.problem.empty()) return no_subjects(text.problem);
  Subjects all{{}, prepared.schedule, prepared.targets[0], {}};
  const std::string title = prepared.graph.name;
  all.subjects.push_back({std::move(prepared), title, graph_arguments(options.graph), text.text, compile_arguments(options, all.target->name),
                          options.shapes, std::move(given)});
  return all;
}

Subjects subjects_of_defaults(const TuneOptions& options) {
  const PreparedTargets prepared = prepare_targets(options);
  if (!prepared.problem.empty()) return no_subjects(prepared.problem);
  if (const std::string problem = option_problem(options, prepared.targets, prepared.schedule); !problem.empty()) return no_subjects(problem);
  DefaultSet set = default_set(*prepared.targets[0], options.tuned);
  return {std::move(set.subjects), prepared.schedule, prepared.targets[0], std::move(set.problem)};
}

TuneSettings settings_of(const TuneOptions& options, const TargetInfo& target, const TunedDevice& device, const std::string& out) {
  TuneSettings settings;
  settings.target = target.name;
  settings.device = device.text;
  settings.threads = options.threads == 0 ? num_threads() : options.threads;
  settings.budget = options.budget;
  settings.budget_s = seconds_of(options.budget);
  settings.most_tries = options.tries;
  settings.seed = options.seed;
  settings.state_path = out + ".state";
  settings.inputs = fmt::format("{}", fmt::join(options.inputs, " "));
  return settings;
}

int tune(TuneOptions options, const Command& command) {
  const auto started = std::chrono::steady_clock::now();
  if (const std::string problem = presence_problem(options, command); !problem.empty()) return refuse(problem);
  if (options.budget.empty()) options.budget = options.is_for_defaults ? "10m" : "60s";
  Subjects subjects = options.is_for_defaults ? subjects_of_defaults(options) : subject_of_options(options);
  if (!subjects.problem.empty()) return refuse(subjects.problem);
  const TargetInfo& target = *subjects.target;
  const TunedDevice device = tuned_device(target, options.device);
  if (!device.problem.empty()) return refuse(device.problem);
  const std::string out = options.out.empty() ? std::string(target.name) + ".json" : options.out;
  TunedFileAnswer file = file_for(out, target.name);
  if (!file.problem.empty()) return refuse(file.problem);
  const TunePlan plan =
      make_plan(std::move(subjects.subjects), target, options.is_for_defaults ? RecordsFor::defaults : RecordsFor::stages, device.capability);
  if (!plan.problem.empty()) return refuse(plan.problem);
  TuneSettings settings = settings_of(options, target, device, out);
  settings.started = started;
  catch_interrupts();
  ProgressLine progress(settings.budget_s);
  const TuneResult result = run_tuner(plan, settings, [&](const TuneProgress& p) { progress(p); });
  progress.end();
  if (!result.problem.empty()) return refuse(result.problem);
  if (result.is_interrupted) {
    say(fmt::format("attune: tune was interrupted; the same command goes on with what '{}' holds\n", settings.state_path));
    return 128 + interrupting_signal();  // as shells have it
  }
  const std::string problem = options.is_for_defaults ? write_defaults(result, settings, subjects.schedule, file.file, out)
                                                      : write_records(plan, result, settings, device.name, file.file, out);
  if (!problem.empty()) return refuse(problem);
  std::error_code ignored;
  std::filesystem::remove(settings.state_path, ignored);
  if (options.is_json) print_result_json(plan, result, settings, out);
  else print_result(plan, result, out);
  return 0;
}

}  // namespace

void add_tune(Program& program) {
  auto options = std::make_shared<TuneOptions>();
  const Command command = program.command("tune", "Find better schedules for a graph and shapes on this machine, and write them to a tuned file");
  add_graph_options(command, *options, Need::optional);
  command.texts("--shape", options->shapes, "DIM=EXTENT,...: what is measured; given again, all are, and their geometric mean counts");
  command.flag("--defaults", options->is_for_defaults, "In place of GRAPH and --shape: find what this machine takes for all graphs, with a fixed set of them, and write all defaults to --out");
  command.texts("--in", options->inputs, "NAME=FILE.npy: an input of the measured calls, as the ids that a mask depends on; given again, a file for each --shape, in their order; others are random");
  command.text("--budget", options->budget, "Wall time of the whole run, as 90s or 2m; 60s without it, with --defaults 10m");
  command.number("--tries", options->tries, 1, 1000000, "At most so many candidates of each stage; as many as the budget allows without it");
  command.text("--out", options->out, "The tuned file to write or extend; TARGET.json without it, needed with --defaults");
  command.text("--device", options->device, "Of a target that is a device's: cuda:1 or cuda:H100; the driver's first without it");
  command.number("--threads", options->threads, 1, 256, "1 to 256; as many as the machine has CPUs without it");
  command.number("--seed", options->seed, "Of the search");
  command.flag("--json", options->is_json, "Print one JSON object");
  command.footer(
      "Every candidate is compiled and run in a process of its own, checked against the interpreter and the default kernel, and raced\n"
      "against the best so far in alternating calls; it wins only if the bounds of the median say so. After Ctrl-C the same command goes on.\n"
      "Of a device (--target cuda) the calls are on tensors that are there already.\n"
      "A record is for kernels that are compiled with the same extents known (--set) and storage (--type).\n"
      "Examples:\n"
      "  attune tune causal --set depth=64 --shape batch=1,heads=8,queries=4096,keys=4096,depth=64 --budget 2m --out my.json\n"
      "  attune compile causal --set depth=64 --tuned my.json\n"
      "  attune explain causal --set depth=64 --tuned my.json\n"
      "  attune tune --defaults --budget 15m --out this_machine.json");
  command.action([options, command] { return tune(*options, command); });
}

}  // namespace attune
