#include "tools/tune/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/attune/work.h"
#include "tools/measure/caches.h"

namespace attune {
namespace {

/// Scores of a tile are written and read again: beyond the second-level cache no tile is worth a try.
std::string tile_problem(const BlockSizes& blocks, const Caches& caches) {
  const bool is_known = caches.l2 > 0 && blocks.query_tile != BlockSizes::all && blocks.key_tile != BlockSizes::all;
  const std::int64_t bytes = is_known ? static_cast<std::int64_t>(sizeof(float)) * blocks.query_tile * blocks.key_tile : 0;
  return bytes <= caches.l2 ? std::string() : fmt::format("the scores of a tile take {} bytes, the second-level cache has {}", bytes, caches.l2);
}

/// Sums that do not fit in registers are stored and loaded in the innermost loop.
std::string register_problem(int needed, const Machine& machine) {
  return needed <= machine.registers ? std::string() : fmt::format("the innermost loop keeps values in {} registers, the machine has {}", needed, machine.registers);
}

/// That of the kernel which calls on a device of the capability take, if their tensors are aligned.
const StepSchedule& taken(const StepSchedule& schedule, std::string_view capability) {
  const auto beside = std::ranges::find(schedule.beside, capability, &StepSchedule::devices);
  return beside == schedule.beside.end() ? schedule : *beside;
}

/// The task of the stage, or nothing if it has no record (a copy) or nothing to choose.
std::optional<TuneTask> task_of(const StageReport& stage, SizeClass size, const Machine& machine, const ScheduleChoice& choice,
                                std::string_view capability) {
  const StepSchedule& schedule = taken(stage.schedules.at(size), capability);
  for (const ScheduleInfo& info : all_schedules()) {
    if (info.name != schedule.name || stage.key.stage.empty()) continue;
    const ParameterAnswer by_default = choose_parameters(info, machine, size, {}, choice);
    TuneTask task{stage.kind, schedule.name, size, {stage.key}, {info.parameters(machine, size), {}}, {}, {}, {}, by_default.small_up_to, {}};
    task.space.problem = [info, machine](const std::vector<Parameter>& values) {
      std::string problem = info.problem == nullptr ? std::string() : info.problem(machine, values);
      if (problem.empty() && info.blocks != nullptr && !machine.is_gpu()) problem = tile_problem(info.blocks(values), caches_of_this_cpu());
      if (problem.empty() && info.registers != nullptr) problem = register_problem(info.registers(machine, values), machine);
      return problem;
    };
    task.by_default = task.space.point(by_default.parameters);
    task.start = task.space.point(schedule.parameters);
    for (const TargetInfo& other : targets()) {  // this one's own too: --tuned may have begun elsewhere
      const TunedFile* file = (other.device != Device::cpu) == machine.is_gpu() ? built_in_tuned(other.name) : nullptr;
      const TunedRecord* record = file != nullptr ? default_record({&file, 1}, schedule.name, size).record : nullptr;
      if (record == nullptr) continue;
      Point hint = task.space.point(record->parameters);
      if (std::ranges::find(task.hints, hint) == task.hints.end()) task.hints.push_back(std::move(hint));
    }
    return task;
  }
  return std::nullopt;
}

/// Adds the tasks that a call of the extents of all dims reaches. Where defaults are tuned all stages that take a schedule are one task, which
/// begins with its default.
void add_tasks(const KernelReport& report, const Shape& extents, const Machine& machine, const ScheduleChoice& choice, std::string_view capability,
               TunePlan& plan) {
  const std::size_t call = plan.calls.size();
  const bool is_for_defaults = plan.records_for == RecordsFor::defaults;
  for (const StageReport& stage : report.stages) {
    const SizeClass size = stage.sizes.size_of(extents);
    std::optional<TuneTask> task = task_of(stage, size, machine, choice, capability);
    if (!task) continue;
    if (is_for_defaults) task->start = task->by_default;
    const auto is_same = [&](const TuneTask& t) {
      return t.size == size && t.schedule == task->schedule && (is_for_defaults || t.keys == task->keys);
    };
    auto place = std::ranges::find_if(plan.tasks, is_same);
    if (place == plan.tasks.end()) place = plan.tasks.insert(place, std::move(*task));
    else if (std::ranges::find(place->keys, stage.key) == place->keys.end()) place->keys.push_back(stage.key);
    if (place->calls.empty() || place->calls.back() != call) place->calls.push_back(call);
  }
}

/// How kernels store the reals of inputs and outputs.
Storages storages_of(const Prepared& prepared) {
  const Specialisation& types = prepared.staging.specialisation;
  Storages storages;
  const auto add = [&](std::string_view name, Kind kind) {
    const auto own = types.storage.find(name);
    if (kind == Kind::real) storages.emplace(name, stored_as(own == types.storage.end() ? types.reals : own->second));
  };
  for (const Node& node : prepared.graph.graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op)) add(input->label, node.type.kind);
  for (const Output& output : prepared.graph.graph.outputs()) add(output.name, prepared.graph.graph.node(output.node).type.kind);
  return storages;
}

/// A small call: the extents of `shape`, none longer than a few odd ones.
struct SmallCall {
  DuelCall call;
  std::string problem;
};
SmallCall small_call(const Prepared& prepared, const Shape& shape) {
  const Graph& graph = prepared.graph.graph;
  const Shape& known = prepared.staging.specialisation.extents;
  Shape given;
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::free) {
      const std::int64_t extent = shape.find(info.name())->second;
      constexpr std::int64_t most = 67;  // many keys, as schedules for few queries count them
      given.emplace(info.name(), known.contains(info.name()) ? extent : std::min(extent, most));
    }
  FilledShape filled = fill_shape(graph, given);
  // Dims whose extents follow from each other may not go together when cut: the odd defaults do.
  if (!filled.problem.empty()) filled = fill_shape(graph, known);
  SmallCall small{{filled.extents, random_inputs(graph, filled.extents, 7), {}, {}}, {}};
  Judge right = judge(graph, small.call.inputs, storages_of(prepared), rounded_products(prepared.staging.specialisation));
  small.call.expected = std::move(right.outputs);
  small.call.allowed = std::move(right.allowed);
  small.problem = std::move(right.problem);
  return small;
}

/// The most that the extents of a shape exceed those of another.
double growth(const Shape& from, const Shape& to) {
  double most = 1;
  for (const auto& [dim, extent] : to)
    if (const auto small = from.find(dim); small != from.end() && small->second > 0)
      most = std::max(most, static_cast<double>(extent) / static_cast<double>(small->second));
  return most;
}

/// What two kernels may differ by in a call of the shape, as shares of its outputs: both may be off, and errors of longer sums grow with the root of
/// their length.
std::map<std::string, Allowance, std::less<>> grown(const DuelCall& small, const Shape& extents) {
  std::map<std::string, Allowance, std::less<>> allowed;
  for (const auto& [name, of] : small.allowed) {
    const double size = root_mean_square(small.expected.find(name)->second.data);
    allowed[name] = {2 * std::sqrt(growth(small.extents, extents)) * (size > 0 ? of.number / size : 0), 2 * of.share, {}};
  }
  return allowed;
}

/// For each size the dims with an upper limit in some stage's entry for it; the last entry takes what is left. A dim whose extent follows from others
/// cannot be varied alone: a size that such a dim limits has none.
std::map<SizeClass, std::vector<std::string>> row_dims(const KernelReport& report, const Graph& graph) {
  std::map<SizeClass, std::vector<std::string>> all;
  const auto is_free = [&](const std::string& dim) {
    return std::ranges::any_of(graph.dim_infos(),
                               [&](const DimInfo& info) { return info.derivation.formula == Formula::free && info.name() == dim; });
  };
  for (const StageReport& stage : report.stages)
    for (const SizeRule::Entry& entry : stage.sizes.entries)
      for (const ExtentLimit& limit : entry.limits) {
        std::vector<std::string>& dims = all[entry.size];
        const bool is_limit_above = limit.largest < std::numeric_limits<std::int64_t>::max();
        if (is_limit_above && std::ranges::find(dims, limit.dim) == dims.end()) dims.push_back(limit.dim);
      }
  std::erase_if(all, [&](const auto& entry) { return entry.second.empty() || !std::ranges::all_of(entry.second, is_free); });
  return all;
}

}  // namespace

std::string TuneTask::describe(const Point& point) const {
  std::string text;
  for (const Parameter& p : space.values(point)) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", p.name, p.value);
  return text;
}

DuelCall SubjectCalls::with_rows(const DuelCall& call, SizeClass size, std::int64_t extent) const {
  const Graph& graph = subject.prepared.graph.graph;
  const std::vector<std::string>& rows = row_dims.at(size);
  Shape given;
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::free)
      given.emplace(info.name(), std::ranges::find(rows, info.name()) != rows.end() ? extent : call.extents.find(info.name())->second);
  const FilledShape filled = fill_shape(graph, given);
  if (!filled.problem.empty()) return {};
  return {filled.extents, random_inputs(graph, filled.extents, 1), {}, call.allowed};
}

std::vector<std::size_t> TunePlan::subjects_of(const TuneTask& task) const {
  std::vector<std::size_t> of;
  for (const std::size_t call : task.calls)
    if (of.empty() || of.back() != calls[call].subject) of.push_back(calls[call].subject);
  return of;
}

std::string TunePlan::shapes_of(const TuneTask& task) const {
  std::string text;
  for (const std::size_t call : task.calls) {
    const std::string title = records_for == RecordsFor::defaults ? subjects[calls[call].subject].subject.title + ": " : std::string();
    text += (text.empty() ? "" : "; ") + title + calls[call].shape;
  }
  return text;
}

namespace {

/// Adds the subject with its calls and the tasks that they reach; the problem in words.
std::string add_subject(TuneSubject given, const TargetInfo& target, std::string_view capability, TunePlan& plan) {
  const std::size_t number = plan.subjects.size(), first = plan.calls.size();
  SubjectCalls& added = plan.subjects.emplace_back(SubjectCalls{std::move(given), {}, {}});
  const TuneSubject& subject = added.subject;
  const KernelReport report = report_kernel(subject.prepared, target);
  if (!report.problem.empty()) return report.problem;
  const Graph& graph = subject.prepared.graph.graph;
  added.row_dims = row_dims(report, graph);
  for (const std::string& text : subject.shapes) {
    const FilledShape filled = fill_shape(subject.prepared, text);
    if (!filled.problem.empty()) return filled.problem;
    for (const auto& [dim, extent] : filled.extents)
      if (extent == 0) return fmt::format("--shape {}: {} = 0 leaves nothing to measure; all extents must be at least 1", text, dim);
    add_tasks(report, extents_in(report, filled.extents), machine_of(target), subject.prepared.schedule, capability, plan);
    DuelCall call{filled.extents, random_inputs(graph, filled.extents, 1), {}, {}};
    if (std::string problem = put_inputs(graph, subject.given, call.inputs, plan.calls.size() - first, subject.shapes.size()); !problem.empty())
      return problem;
    plan.calls.push_back({number, std::move(call), shape_text(graph, filled.extents)});
  }
  SmallCall small = small_call(subject.prepared, plan.calls[first].call.extents);
  added.check = std::move(small.call);
  for (std::size_t i = first; i < plan.calls.size(); ++i) plan.calls[i].call.allowed = grown(added.check, plan.calls[i].call.extents);
  return small.problem;
}

}  // namespace

TunePlan make_plan(std::vector<TuneSubject> subjects, const TargetInfo& target, RecordsFor records_for, std::string_view capability) {
  TunePlan plan;
  plan.records_for = records_for;
  for (TuneSubject& subject : subjects) {
    plan.problem = add_subject(std::move(subject), target, capability, plan);
    if (!plan.problem.empty()) return plan;
  }
  return plan;
}

}  // namespace attune
