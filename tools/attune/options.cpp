#include "tools/attune/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>

#include "codegen/files/read_file.h"
#include "codegen/output/code_generators.h"
#include "codegen/passes/compile.h"

namespace attune {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return parts;
}

/// What is wrong with a list that begins or ends with a comma or has two in a row, as a sentence; `what` stands between commas.
std::string empty_part(std::string_view option, std::string_view text, std::string_view what) {
  if (!text.starts_with(',') && !text.ends_with(',') && text.find(",,") == std::string_view::npos) return {};
  return fmt::format("{} {}: has an empty part; {} is right on each side of a comma", option, text, what);
}

/// The same of the items of a list that may have been given in several parts.
std::string empty_part(std::string_view option, const std::vector<std::string>& items, std::string_view what) {
  const bool has_one = std::ranges::find(items, std::string()) != items.end();
  return has_one ? empty_part(option, items.size() == 1 ? "," : fmt::format("{}", fmt::join(items, ",")), what) : std::string();
}

/// The rows of the named targets; all of one architecture, so that they fit into one file.
std::string find_targets(const std::string& names, std::vector<const TargetInfo*>& targets) {
  if (std::string problem = empty_part("--target", names, "a target's name"); !problem.empty()) return problem;
  for (const std::string& name : split(names, ',')) {
    const TargetInfo* target = find_target(name);
    if (target == nullptr && name == "host") return "target 'host': this CPU is none of the table's; attune list targets shows them";
    if (target == nullptr) return fmt::format("target '{}': does not exist; there are {}", name, target_names());
    if (!targets.empty() && target->triple != targets[0]->triple)
      return fmt::format("target '{}': is another architecture than '{}'; one file holds kernels of one", name, targets[0]->name);
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
  }
  if (targets.empty()) return fmt::format("--target: names no target; there are {}", target_names());
  // the best first, as the runtime chooses
  std::sort(targets.begin(), targets.end());
  return {};
}

/// The first of the items NAME=VALUE whose name another has, as a sentence. A type without a name is that of all tensors.
std::string repetition(const std::vector<std::string>& items, std::string_view option) {
  std::set<std::string_view> names;
  for (const std::string_view item : items) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos && option != "--type") continue;
    const std::string_view name = item.substr(0, equals == std::string_view::npos ? 0 : equals);
    if (!names.insert(name).second) return fmt::format("{} {}: sets {} twice; once is right", option, item, name.empty() ? "the type of all" : name);
  }
  return {};
}

/// What is set twice, in any of the options.
std::string repetition(const Options& options) {
  std::vector<std::string> values = split(options.schedule, ',');
  if (!values.empty()) values.erase(values.begin());
  const std::pair<std::vector<std::string>, const char*> lists[] = {
      {options.graph.settings, "--param"}, {options.set, "--set"}, {split(options.types, ','), "--type"}, {values, "--schedule"}};
  for (const auto& [items, option] : lists)
    if (std::string problem = repetition(items, option); !problem.empty()) return problem;
  return {};
}

/// What the options say of dims and tensors that the graph does not have, or not so: also for commands that compile nothing.
std::string specialisation_problem(const Prepared& prepared) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const LoadedGraph& loaded = prepared.graph;
  return compile_to_stages(loaded.graph, loaded.name, loaded.parameters, prepared.staging, context, Until::specialised).problem;
}

}  // namespace

void add_graph_options(const Command& command, Options& options, Need graph) {
  command.text("GRAPH", options.graph.graph, "A variant's name, FILE.mlir, or FILE.h with --struct", graph);
  command.text("--struct", options.graph.struct_name, "The variant in FILE.h");
  command.texts("-I", options.graph.include_folders, "FOLDER of headers that FILE.h includes; may be given again");
  command.texts("--param", options.graph.settings, "NAME=VALUE: a parameter of the variant, as window=512", Need::optional, ',');
  command.texts("--set", options.set, "DIM=EXTENT: an extent that is known when the kernel is compiled, as depth=64", Need::optional, ',');
  command.text("--type", options.types, "Storage of reals: f32, bf16 or f16, and NAME=TYPE for single tensors (an output that is a log-sum-exp is f32 unless named); products=bf16: kernels may round the operands of products to bf16");
  command.text("--target", options.targets, "What to compile for, as x86-64-v3,x86-64-v4; attune list targets");
  command.text("--schedule", options.schedule, "NAME,parameter=value,...; attune list schedules. 'unfused' fuses nothing");
  command.texts("--tuned", options.tuned, "FILE of `attune tune`, for one of the targets: its records and defaults come before the built-in ones; may be given again");
}

TunedFileAnswer read_tuned(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {{}, fmt::format("tuned file '{}': is a folder; attune tune writes files", path)};
  const FileBytes file = read_file(path);
  if (file.error) return {{}, fmt::format("tuned file '{}': {}; attune tune writes such files", path, cannot_be_read(file.error))};
  TunedFileAnswer answer = parse_tuned(file.bytes, path);
  if (!answer.problem.empty()) return answer;
  const TargetInfo* target = answer.file.target == "host" ? nullptr : find_target(answer.file.target);
  if (target == nullptr) return {{}, fmt::format("tuned file '{}': target '{}' does not exist; there are {}", path, answer.file.target, target_names())};
  answer.problem = tuned_problem(answer.file, machine_of(*target));
  return answer;
}

namespace {

/// A file whose records no kernel of the targets can use is one that was meant for another command.
std::string target_problem(const TunedFile& file, const std::vector<const TargetInfo*>& targets) {
  std::string names;
  for (const TargetInfo* target : targets) {
    if (target->name == file.target) return {};
    names += (names.empty() ? "" : ", ") + std::string(target->name);
  }
  return fmt::format("tuned file '{}': is for target '{}'; the kernel is for {}", file.name, file.target, names);
}

/// What is said of the graph whatever it is.
std::string read_staging(const Options& options, StageOptions& staging) {
  for (const std::string& problem : {empty_part("--param", options.graph.settings, "NAME=VALUE"), empty_part("--set", options.set, "DIM=EXTENT"),
                                     empty_part("--type", options.types, "a type or NAME=TYPE"), empty_part("--schedule", options.schedule, "a name or parameter=value"),
                                     repetition(options)})
    if (!problem.empty()) return problem;
  for (const std::string& set : options.set)
    if (std::string problem = read_extents(set, staging.specialisation); !problem.empty()) return problem;
  staging.fuse = options.schedule != "unfused";
  return read_types(options.types, staging.specialisation);
}

/// All but the graph and what is said of it.
Prepared prepare_options(const Options& options) {
  Prepared prepared;
  prepared.problem = read_staging(options, prepared.staging);
  if (!prepared.problem.empty()) return prepared;
  PreparedTargets on = prepare_targets(options);
  prepared.targets = std::move(on.targets);
  prepared.schedule = std::move(on.schedule);
  prepared.problem = std::move(on.problem);
  return prepared;
}

/// A schedule that one of the targets has is chosen there; the others have their own.
std::string absent_problem(std::string_view schedule, const std::vector<const TargetInfo*>& targets) {
  std::string names;
  for (const ScheduleInfo& info : all_schedules())
    for (const TargetInfo* target : targets) {
      if (!info.is_for(machine_of(*target))) continue;
      if (info.name == schedule) return {};
      names += (names.empty() ? "" : ", ") + std::string(info.name);
      break;
    }
  return fmt::format("schedule '{}': is none of target '{}'; it has {}", schedule, targets.front()->name, names);
}

/// What is wrong with the values that a schedule is given, on the first target that has it.
std::string values_problem(const ScheduleChoice& choice, const std::vector<const TargetInfo*>& targets) {
  for (const ScheduleInfo& info : all_schedules())
    for (const TargetInfo* target : targets) {
      const Machine& machine = machine_of(*target);
      if (info.name != choice.name || !info.is_for(machine)) continue;
      return values_problem(info, machine, info.parameters(machine, choice.size), choice.values);
    }
  return {};
}

/// A schedule was named that no stage of the kernel takes on any of the targets.
std::string schedule_problem(const Prepared& prepared) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const LoadedGraph& loaded = prepared.graph;
  const StagedModule staged = compile_to_stages(loaded.graph, loaded.name, loaded.parameters, prepared.staging, context);
  if (!staged.problem.empty()) return staged.problem;
  const KernelSteps plan = kernel_steps(function_of(*staged.module));
  std::vector<StepSchedules> all;
  for (const TargetInfo* target : prepared.targets)
    for (const Step& step : plan.steps)
      if (all.push_back(schedules_of(plan, step, *target, prepared.schedule)); !all.back().problem.empty()) return all.back().problem;
  return untaken_problem(prepared.schedule, all);
}

/// The graph and what the options say of it.
void put_graph(Prepared& prepared, LoadedGraph graph, bool must_take_schedule) {
  prepared.graph = std::move(graph);
  prepared.problem = prepared.graph.problem;
  if (prepared.problem.empty()) prepared.problem = specialisation_problem(prepared);
  if (prepared.problem.empty() && must_take_schedule && !prepared.schedule.name.empty()) prepared.problem = schedule_problem(prepared);
}

}  // namespace

PreparedTargets prepare_targets(const Options& options) {
  PreparedTargets prepared;
  prepared.problem = find_targets(options.targets, prepared.targets);
  if (!prepared.problem.empty()) return prepared;
  if (!options.schedule.empty() && options.schedule != "unfused") {
    ScheduleChoiceAnswer answer = parse_schedule_choice(options.schedule);
    prepared.problem = std::move(answer.problem);
    if (!prepared.problem.empty()) return prepared;
    prepared.problem = absent_problem(answer.choice.name, prepared.targets);
    if (!prepared.problem.empty()) return prepared;
    prepared.problem = values_problem(answer.choice, prepared.targets);
    if (!prepared.problem.empty()) return prepared;
    prepared.schedule = std::move(answer.choice);
  }
  for (const std::string& path : options.tuned) {
    TunedFileAnswer answer = read_tuned(path);
    prepared.problem = answer.problem.empty() ? target_problem(answer.file, prepared.targets) : std::move(answer.problem);
    if (!prepared.problem.empty()) return prepared;
    prepared.schedule.tuned.push_back(std::move(answer.file));
  }
  return prepared;
}

Prepared prepare(const Options& options) {
  Prepared prepared = prepare_options(options);
  if (prepared.problem.empty()) put_graph(prepared, load_graph(options.graph), !options.is_schedule_for_any);
  return prepared;
}

Prepared prepare(const Options& options, LoadedGraph graph) {
  Prepared prepared = prepare_options(options);
  if (prepared.problem.empty()) put_graph(prepared, std::move(graph), !options.is_schedule_for_any);
  return prepared;
}

std::vector<std::string> compile_arguments(const Options& options, std::string_view target) {
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

ShapeAnswer parse_shape(std::string_view text, std::string_view who, std::string_view what) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();  // what kernels count with
  ShapeAnswer answer;
  if (std::string problem = empty_part(who, text, fmt::format("{} from 0 to {}", what, largest)); !problem.empty()) return {{}, std::move(problem)};
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    std::int64_t extent = -1;
    const char* begin = part.data() + (equals == std::string::npos ? part.size() : equals + 1);
    const char* end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(begin, end, extent);
    if (equals == std::string::npos || equals == 0 || error != std::errc{} || stop != end || extent < 0 || extent > largest)
      return {{}, fmt::format("{}: '{}' is not {} from 0 to {}", who, part, what, largest)};
    if (!answer.extents.emplace(part.substr(0, equals), extent).second)
      return {{}, fmt::format("{} {}: sets {} twice; once is right", who, part, part.substr(0, equals))};
  }
  return answer;
}

std::string size_problem(std::string_view size) {
  return find_size(size) ? std::string() : fmt::format("--size '{}': is not one of {}", size, size_names());
}

int refuse(const std::string& sentence) {
  std::fputs(fmt::format("attune: {}\n", sentence).c_str(), stderr);  // where that cannot be written the status says enough
  return wrong_input;
}

}  // namespace attune
