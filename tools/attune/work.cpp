#include "tools/attune/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/compile.h"
#include "codegen/import.h"
#include "codegen/stage_plan.h"
#include "codegen/step_code.h"
#include "codegen/steps.h"

namespace attune {
namespace {

bool is_leaf(const Node& node) {
  return std::visit(
      []<class Op>(const Op&) {
        return std::is_same_v<Op, Input> || std::is_same_v<Op, Constant> || std::is_same_v<Op, Index> || std::is_same_v<Op, Extent>;
      },
      node.op);
}

/// What the step is and holds; its schedules are found for a target.
StageReport stage_of(const KernelSteps& plan, std::size_t number) {
  const Step& step = plan.steps[number];
  const StepTensor& written = plan.tensors[step.output];
  StageReport report;
  report.kind = step.kind;
  report.reason = step.reason;
  for (const std::size_t input : step.inputs) report.reads.push_back(plan.tensors[input].name);
  report.writes = written.name;
  report.dims = written.dims;
  report.element_bytes = static_cast<int>(bytes_of(stored_as(written.element)));
  report.result = fmt::format("[{}]", fmt::join(report.dims, " x "));
  for (const Node& node : step.graph.nodes())
    if (!is_leaf(node)) report.operations.emplace_back(std::visit([]<class Op>(const Op&) { return Op::name; }, node.op));
  report.key = step.key;
  report.code = static_cast<std::size_t>(std::ranges::find(plan.steps, step.identity, &Step::identity) - plan.steps.begin());
  return report;
}

/// The walks of the plan's online softmaxes, in the order of the stages.
std::vector<KeyWalk> walks_of(const Graph& graph, bool fuse) {
  std::vector<KeyWalk> walks;
  for (const StagePlan& plan : plan_stages(graph, fuse)) {
    if (plan.kind != StageKind::online_softmax) continue;
    std::optional<OnlineSoftmaxMatch> match;
    for (auto node = plan.nodes.rbegin(); node != plan.nodes.rend() && !match; ++node) match = match_online_softmax(graph, *node).match;
    if (match) walks.push_back({match->softmax, match->queries, graph.node(match->matmul).type.dims.without({match->queries, match->value_depth})});
  }
  return walks;
}

/// A schedule without query_tile takes all queries at once; one that has it looks at groups of register_rows where blocks are small. One
/// without key_tile takes all keys at once, one without edge_tile has blocks of one size.
void set_tiles(const StepSchedule& schedule, KeyWalk& walk) {
  constexpr std::int64_t all = std::int64_t{1} << 40;
  const auto value = [&](std::string_view name, std::int64_t otherwise) {
    const auto place = std::ranges::find(schedule.parameters, name, &Parameter::name);
    return place == schedule.parameters.end() ? otherwise : place->value;
  };
  walk.query_tile = value("query_tile", all);
  walk.key_tile = value("key_tile", all);
  walk.edge_tile = value("edge_tile", walk.key_tile);
  walk.query_group = walk.query_tile == all ? all : value("register_rows", walk.query_tile);
}

/// The schedules for GPUs compute a softmax in steps, with tables between them.
void add_kept_tables(KernelReport& report) {
  std::size_t walk = 0;
  for (StageReport& stage : report.stages) {
    if (stage.kind != "online_softmax") continue;
    const Node& softmax = report.staged.node(report.walks[walk++].softmax);
    const Names& pairs = softmax.type.dims;
    const Names rows = pairs.without({std::get<Softmax>(softmax.op).over});
    stage.kept = {{"scores", {pairs.begin(), pairs.end()}}, {"row maxima", {rows.begin(), rows.end()}}, {"row sums", {rows.begin(), rows.end()}}};
  }
}

/// A window hides nearly all blocks and a triangle shows nearly all of those that are visited; a mask that shows less than half of
/// what is visited, and leaves out less than 60 % of all, shows a bit of everything. Of a few blocks nothing is said.
bool hides_few_blocks(const Portion& pairs, const Portion& blocks) {
  constexpr std::int64_t few = 64;
  return blocks.whole > few && blocks.share() > 0.4 && pairs.share() < 0.5 * blocks.share();
}

}  // namespace

KernelReport report_kernel(const Prepared& prepared, const TargetInfo& target) {
  const auto fail = [](std::string problem) {
    KernelReport report;
    report.problem = std::move(problem);
    return report;
  };
  auto context = std::make_shared<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  const LoadedGraph& graph = prepared.graph;
  const StagedModule staged = compile_to_stages(graph.graph, graph.name, graph.parameters, prepared.staging, *context);
  if (!staged.problem.empty()) return fail(staged.problem);
  mlir::func::FuncOp function = function_of(*staged.module);
  const KernelSteps plan = kernel_steps(function);
  KernelReport report;
  for (std::size_t number = 0; number < plan.steps.size(); ++number) {
    StepSchedules schedules = schedules_of(plan, plan.steps[number], target, prepared.schedule);
    if (!schedules.problem.empty()) return fail(std::move(schedules.problem));
    StageReport& stage = report.stages.emplace_back(stage_of(plan, number));
    stage.schedules = std::move(schedules.of);
    stage.sizes = std::move(schedules.rule);
  }
  report.staged = to_graph(function);
  report.owner = context;
  report.walks = walks_of(report.staged, prepared.staging.fuse);
  const auto online = std::ranges::count(report.stages, std::string("online_softmax"), &StageReport::kind);
  if (online != static_cast<std::ptrdiff_t>(report.walks.size())) return fail("internal: the stages are not those of the plan");
  if (target.device != Device::cpu) add_kept_tables(report);
  return report;
}

double bytes_of(const KeptTable& table, const Shape& extents) {
  double bytes = sizeof(float);
  for (const std::string& dim : table.dims) bytes *= static_cast<double>(extents.find(dim)->second);
  return bytes;
}

Portion Work::all_blocks() const {
  Portion all;
  for (const Portion& blocks : this->blocks) {
    all.part += blocks.part;
    all.whole += blocks.whole;
    all.doubt += blocks.doubt;
  }
  return all;
}

Shape extents_in(const KernelReport& report, const Shape& extents) {
  Shape all = extents;
  for (const DimInfo& info : report.staged.dim_infos())
    if (const std::optional<std::int64_t> extent = evaluate(info.derivation, all)) all.try_emplace(std::string(info.name()), *extent);
  return all;
}

Work work_of(const KernelReport& report, const Shape& given, const Arrays& inputs) {
  const Shape extents = extents_in(report, given);
  // as the compiler writes the graph: there the masks of scores stand outside of a concat
  const Graph& graph = report.staged;
  Work work;
  for (const StageReport& stage : report.stages) work.sizes.push_back(stage.sizes.size_of(extents));
  work.pairs = count_visible_pairs(graph, extents, inputs);
  work.flops = matmul_flops(graph, extents, work.pairs);
  std::size_t next = 0;
  for (const StageReport& stage : report.stages) {
    if (stage.kind != "online_softmax") continue;
    KeyWalk walk = report.walks[next++];
    if (!stage.kept.empty()) continue;  // all scores are stored: no block is left out
    set_tiles(stage.schedule_for(extents), walk);
    work.blocks.push_back(count_visited_blocks(graph, walk, extents, inputs));
    const auto visible = std::ranges::find(work.pairs, walk.softmax, &VisiblePairs::softmax);
    work.is_sparse = work.is_sparse || (visible != work.pairs.end() && hides_few_blocks(visible->pairs, work.blocks.back()));
  }
  return work;
}

FilledShape fill_shape(const Prepared& prepared, const std::string& shape) {
  const ShapeAnswer given = parse_shape(shape, "--shape");
  if (!given.problem.empty()) return {{}, given.problem};
  Shape extents = given.extents;
  for (const auto& [dim, extent] : prepared.staging.specialisation.extents) {
    const auto [place, is_fresh] = extents.try_emplace(dim, extent);
    if (!is_fresh && place->second != extent)
      return {{}, fmt::format("--shape {0}={1}: --set says {0}={2}; they must agree", dim, place->second, extent)};
  }
  return fill_shape(prepared.graph.graph, extents);
}

std::string shape_text(const Graph& graph, const Shape& extents) {
  std::string text;
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::free)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", info.name(), extents.find(info.name())->second);
  return text;
}

}  // namespace attune
