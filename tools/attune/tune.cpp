#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "codegen/files/whole_file.h"
#include "runtime/threads.h"
#include "tools/attune/commands.h"
#include "tools/attune/file_inputs.h"
#include "tools/attune/mlir_text.h"
#include "tools/attune/options.h"
#include "tools/attune/trial.h"
#include "tools/tune/child.h"
#include "tools/tune/tuner.h"

namespace attune {
namespace {

struct TuneOptions : Options {
  std::vector<std::string> shapes, inputs;
  std::string budget = "60s", out;
  int threads = 0, tries = 0;
  std::uint64_t seed = 1;
  bool is_json = false;
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

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "unknown";
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
  for (const std::string& setting : graph.settings) words.insert(words.end(), {"--param", setting});
  return words;
}

/// What it takes beside the graph; targets by name, so that the state of a run says what "host" was.
std::vector<std::string> compile_arguments(const TuneOptions& options, std::string_view target) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  for (const std::string& set : options.set) add("--set", set);
  for (const std::string& tuned : options.tuned) add("--tuned", tuned);
  add("--type", options.types);
  add("--target", std::string(target));
  if (!options.schedule.empty()) add("--schedule", options.schedule);
  return words;
}

/// Says it to those who watch. A run of hours does not end because nobody can read how far it is.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

/// One line that is written again where people look, a line for each stage elsewhere.
class Progress {
 public:
  Progress(double budget_s) : budget_s_(budget_s), is_terminal_(isatty(STDERR_FILENO) != 0) {}

  void operator()(const TuneProgress& p) {
    if (!is_terminal_ && p.task == last_task_) return;
    last_task_ = p.task;
    constexpr int width = 24;
    const int done = static_cast<int>(std::min(p.elapsed_s / budget_s_, 1.0) * width);
    say(fmt::format("{}[{:=<{}}{: <{}}] {:.0f} of {:.0f} s  stage {} of {}: {}: {} tried, {} failed, best {:.3f} x{}", is_terminal_ ? "\r\033[K" : "", "", done,
               "", width - done, p.elapsed_s, budget_s_, p.task + 1, p.tasks, p.title, p.tried, p.failed, p.speedup, is_terminal_ ? "" : "\n"));
  }
  void end() const {
    if (is_terminal_) say("\r\033[K");
  }

 private:
  double budget_s_;
  bool is_terminal_;
  std::size_t last_task_ = static_cast<std::size_t>(-1);
};

/// The calls that a task was measured with, as text.
std::string shapes_of(const TunePlan& plan, const TuneTask& task) {
  std::string text;
  for (const std::size_t call : task.calls) text += (text.empty() ? "" : "; ") + plan.shapes[call];
  return text;
}

void print_text(const TunePlan& plan, const TuneResult& result, const std::string& out) {
  std::size_t written = 0;
  for (const TunedTask& task : result.tasks) {
    fmt::print("{} ({} tried{})\n", task.task->title(), task.tried, task.failed == 0 ? "" : fmt::format(", {} failed", task.failed));
    fmt::print("  calls    {}\n", shapes_of(plan, *task.task));
    fmt::print("  default  {:.4g} ms  {}\n", task.default_ms, task.task->describe(task.task->by_default));
    if (task.is_better) fmt::print("  tuned    {:.4g} ms  {}  {:.3f} x\n", task.tuned_ms, task.task->describe(task.task->space.point(task.parameters)), task.default_ms / task.tuned_ms);
    else fmt::print("  tuned    {}\n", task.tried == 0 ? "nothing was tried: there was no time, or nothing to choose" : "nothing was surely faster than the default");
    if (!task.first_failure.empty()) fmt::print("  failed   {}\n", task.first_failure);
    if (task.task->small_up_to > 0) fmt::print("  calls are small up to {}{}\n", task.small_up_to, task.small_up_to == task.task->small_up_to ? "" : fmt::format(", not {}", task.task->small_up_to));
    written += is_worth_a_record(task) ? 1 : 0;
  }
  if (written > 0) fmt::print("{} record{} written to {}\n", written, written == 1 ? "" : "s", out);
  else if (std::filesystem::exists(out)) fmt::print("No record is written; {} stays as it was\n", out);
  else fmt::print("No file is written: kernels are best as they are by default, without --tuned\n");
}

void print_json(const TunePlan& plan, const TuneResult& result, const TuneSettings& settings, const std::string& out) {
  using Json = nlohmann::ordered_json;
  Json tasks = Json::array();
  bool is_written = false;
  for (const TunedTask& task : result.tasks) {
    Json parameters = Json::object(), by_default = Json::object();
    for (const Parameter& p : task.parameters) parameters[p.name] = p.value;
    for (const Parameter& p : task.task->space.values(task.task->by_default)) by_default[p.name] = p.value;
    tasks.push_back({{"stage", task.task->key.stage},
                     {"schedule", task.task->schedule},
                     {"size", std::string(name_of(task.task->size))},
                     {"shape", shapes_of(plan, *task.task)},
                     {"tried", task.tried},
                     {"failed", task.failed},
                     {"default", by_default},
                     {"parameters", parameters},
                     {"is_better", task.is_better},
                     {"small_up_to", task.small_up_to > 0 ? Json(task.small_up_to) : Json()},
                     {"default_ms", task.default_ms},
                     {"tuned_ms", task.tuned_ms}});
    is_written |= is_worth_a_record(task);
  }
  const Json root = {{"target", settings.target}, {"threads", settings.threads}, {"out", is_written ? Json(out) : Json()}, {"stages", tasks}};
  fmt::print("{}\n", root.dump(2));
}

/// The file that the records go to: what is there already, or an empty one for the target. The problem in words.
TunedFileAnswer file_for(const std::string& out, std::string_view target) {
  if (!std::filesystem::exists(out)) {
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

std::string write_records(const TunePlan& plan, const TuneResult& result, const TuneSettings& settings, TunedFile& file, const std::string& out) {
  bool is_changed = false;
  for (const TunedTask& task : result.tasks) {
    if (!is_worth_a_record(task)) continue;
    const TuneTask& t = *task.task;
    insert(file, {t.schedule, t.size, t.key.stage, t.key.types, t.key.extents, task.parameters, task.small_up_to,
                  {shapes_of(plan, t), cpu_model(), ATTUNE_VERSION_NUMBER, today(), settings.threads, task.default_ms, task.tuned_ms}},
           t.key.body);
    is_changed = true;
  }
  return is_changed ? write_whole(out, {tuned_text(file)}) : std::string();
}

/// What the options say that no graph is needed to judge; the problem in words, or nothing.
std::string option_problem(const TuneOptions& options, const Prepared& prepared) {
  if (seconds_of(options.budget) == 0) return fmt::format("--budget '{}': is not a time up to {:.0f}s; 90s and 2m are", options.budget, longest_budget_s);
  if (prepared.targets.size() > 1) return fmt::format("--target {}: tune takes one target", options.targets);
  const TargetInfo& target = *prepared.targets[0];
  if (target.device != Device::cpu) return fmt::format("target '{}': is a GPU; tune measures kernels for CPUs", target.name);
  if (!runs_here(target)) return fmt::format("target '{}': this machine cannot run it; attune list targets shows what it runs", target.name);
  if (!prepared.schedule.name.empty()) return fmt::format("--schedule {}: tune chooses parameters itself; only 'unfused' is taken", options.schedule);
  return {};
}

int tune(const TuneOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const FileInputs given = read_inputs(options.inputs);
  if (!given.problem.empty()) return refuse(given.problem);
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  if (const std::string problem = option_problem(options, prepared); !problem.empty()) return refuse(problem);
  const TargetInfo& target = *prepared.targets[0];
  const std::string out = options.out.empty() ? std::string(target.name) + ".json" : options.out;
  TunedFileAnswer file = file_for(out, target.name);
  if (!file.problem.empty()) return refuse(file.problem);
  const TunePlan plan = make_plan(prepared, target, options.shapes, given);
  if (!plan.problem.empty()) return refuse(plan.problem);
  MlirText text;
  if (!options.graph.struct_name.empty()) text = mlir_text(prepared, false);
  if (!text.problem.empty()) return refuse(text.problem);
  TuneSettings settings{graph_arguments(options.graph), text.text, compile_arguments(options, target.name), prepared.graph.name, std::string(target.name),
                        options.threads == 0 ? num_threads() : options.threads, seconds_of(options.budget), options.budget, options.tries, options.seed,
                        out + ".state", fmt::format("{}", fmt::join(options.inputs, " ")), started};
  catch_interrupts();
  Progress progress(settings.budget_s);
  const TuneResult result = run_tuner(prepared, plan, settings, [&](const TuneProgress& p) { progress(p); });
  progress.end();
  if (!result.problem.empty()) return refuse(result.problem);
  if (result.is_interrupted) {
    constexpr int interrupted = 130;  // 128 and the number of the signal, as shells have it
    say(fmt::format("attune: tune was interrupted; the same command goes on with what '{}' holds\n", settings.state_path));
    return interrupted;
  }
  if (const std::string problem = write_records(plan, result, settings, file.file, out); !problem.empty()) return refuse(problem);
  std::error_code ignored;
  std::filesystem::remove(settings.state_path, ignored);
  if (options.is_json) print_json(plan, result, settings, out);
  else print_text(plan, result, out);
  return 0;
}

}  // namespace

void add_tune(Program& program) {
  auto options = std::make_shared<TuneOptions>();
  const Command command = program.command("tune", "Find better schedules for a graph and shapes on this machine, and write them to a tuned file");
  add_graph_options(command, *options);
  command.texts("--shape", options->shapes, "DIM=EXTENT,...: what is measured; given again, all are, and their geometric mean counts", Need::required);
  command.texts("--in", options->inputs, "NAME=FILE.npy: an input of the measured calls, as the ids that a mask depends on; given again, a file for each --shape, in their order; others are random");
  command.text("--budget", options->budget, "Wall time of the whole run, as 90s or 2m");
  command.number("--tries", options->tries, 1, 1000000, "At most so many candidates of each stage; as many as the budget allows without it");
  command.text("--out", options->out, "The tuned file to write or extend; TARGET.json without it");
  command.number("--threads", options->threads, 1, 256, "1 to 256; as many as the machine has CPUs without it");
  command.number("--seed", options->seed, "Of the search");
  command.flag("--json", options->is_json, "Print one JSON object");
  command.footer(
      "Every candidate is compiled and run in a process of its own, checked against the interpreter and the default kernel, and raced\n"
      "against the best so far in alternating calls; it wins only if the bounds of the median say so. After Ctrl-C the same command goes on.\n"
      "A record is for kernels that are compiled with the same extents known (--set) and storage (--type).\n"
      "Examples:\n"
      "  attune tune causal --set depth=64 --shape batch=1,heads=8,queries=4096,keys=4096,depth=64 --budget 2m --out my.json\n"
      "  attune compile causal --set depth=64 --tuned my.json\n"
      "  attune explain causal --set depth=64 --tuned my.json");
  command.action([options] { return tune(*options); });
}

}  // namespace attune
