#include "tools/tune/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/attune/work.h"

namespace attune {
namespace {

/// The task of the stage, or nothing if it has no record (a copy) or nothing to choose.
std::optional<TuneTask> task_of(const StageReport& stage, SizeClass size, const Machine& machine, const ScheduleChoice& choice) {
  const StepSchedule& schedule = stage.schedules.at(size);
  for (const ScheduleInfo& info : all_schedules()) {
    if (info.name != schedule.name || stage.key.stage.empty()) continue;
    const ParameterAnswer by_default = choose_parameters(info, machine, size, {}, choice);
    TuneTask task{stage.kind, schedule.name, size, stage.key, {info.parameters(machine, size), {}}, {}, {}, by_default.small_up_to, {}};
    if (info.problem != nullptr)
      task.space.problem = [problem = info.problem, machine](const std::vector<Parameter>& values) { return problem(machine, values); };
    task.by_default = task.space.point(by_default.parameters);
    task.start = task.space.point(schedule.parameters);
    return task;
  }
  return std::nullopt;
}

/// Adds the tasks that a call of the extents of all dims reaches.
void add_tasks(const KernelReport& report, const Shape& extents, std::size_t call, const Machine& machine, const ScheduleChoice& choice, std::vector<TuneTask>& tasks) {
  for (const StageReport& stage : report.stages) {
    const SizeClass size = stage.sizes.size_of(extents);
    std::optional<TuneTask> task = task_of(stage, size, machine, choice);
    if (!task) continue;
    auto place = std::ranges::find_if(tasks, [&](const TuneTask& t) { return t.key == task->key && t.size == size && t.schedule == task->schedule; });
    if (place == tasks.end()) place = tasks.insert(place, std::move(*task));
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
  Judge right = judge(graph, small.call.inputs, storages_of(prepared));
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
    return std::ranges::any_of(graph.dim_infos(), [&](const DimInfo& info) { return info.derivation.formula == Formula::free && info.name() == dim; });
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

DuelCall TunePlan::with_rows(const Prepared& prepared, const DuelCall& call, SizeClass size, std::int64_t extent) const {
  const Graph& graph = prepared.graph.graph;
  const std::vector<std::string>& rows = row_dims.at(size);
  Shape given;
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::free)
      given.emplace(info.name(), std::ranges::find(rows, info.name()) != rows.end() ? extent : call.extents.find(info.name())->second);
  const FilledShape filled = fill_shape(graph, given);
  if (!filled.problem.empty()) return {};
  return {filled.extents, random_inputs(graph, filled.extents, 1), {}, call.allowed};
}

TunePlan make_plan(const Prepared& prepared, const TargetInfo& target, const std::vector<std::string>& shapes, const FileInputs& given) {
  TunePlan plan;
  const KernelReport report = report_kernel(prepared, target);
  plan.problem = report.problem;
  if (!plan.problem.empty()) return plan;
  const Graph& graph = prepared.graph.graph;
  plan.row_dims = row_dims(report, graph);
  for (const std::string& text : shapes) {
    const FilledShape filled = fill_shape(prepared, text);
    plan.problem = filled.problem;
    if (!plan.problem.empty()) return plan;
    for (const auto& [dim, extent] : filled.extents)
      if (extent == 0) plan.problem = fmt::format("--shape {}: {} = 0 leaves nothing to measure; all extents must be at least 1", text, dim);
    if (!plan.problem.empty()) return plan;
    add_tasks(report, extents_in(report, filled.extents), plan.calls.size(), machine_of(target), prepared.schedule, plan.tasks);
    DuelCall call{filled.extents, random_inputs(graph, filled.extents, 1), {}, {}};
    plan.problem = put_inputs(graph, given, call.inputs, plan.calls.size(), shapes.size());
    if (!plan.problem.empty()) return plan;
    plan.calls.push_back(std::move(call));
    plan.shapes.push_back(shape_text(graph, filled.extents));
  }
  SmallCall small = small_call(prepared, plan.calls.front().extents);
  plan.problem = std::move(small.problem);
  plan.check = std::move(small.call);
  for (DuelCall& call : plan.calls) call.allowed = grown(plan.check, call.extents);
  return plan;
}

}  // namespace attune
