#include "tools/attune/work.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/dialect/import.h"
#include "codegen/output/code_generators.h"
#include "codegen/passes/compile.h"
#include "codegen/plan/node_users.h"
#include "codegen/plan/stage_plan.h"
#include "codegen/steps/steps.h"

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
/// With the whole dims that blocks are of: what a sweep writes block by block is there whole at its end, and on a device a block is the whole.
std::vector<std::string> whole_dims(const KernelSteps& plan, std::vector<std::string> dims) {
  for (const Sweep& sweep : plan.sweeps)
    for (const SweptDim& swept : sweep.dims) std::ranges::replace(dims, swept.block, swept.whole);
  return dims;
}

StageReport stage_of(const KernelSteps& plan, std::size_t number, bool is_on_device) {
  const Step& step = plan.steps[number];
  StageReport report;
  report.kind = step.kind();
  report.reason = step.reason;
  report.place = step.place;
  for (const std::size_t input : step.inputs) report.reads.push_back(plan.tensors[input].name);
  for (const std::size_t output : step.outputs) {
    const StepTensor& written = plan.tensors[output];
    report.writes.push_back({written.name, written.view || is_on_device ? whole_dims(plan, written.dims) : written.dims, static_cast<int>(bytes_of(stored_as(written.element)))});
  }
  for (const Node& node : step.graph.nodes())
    if (!is_leaf(node)) report.operations.emplace_back(operation_name(node.op));
  report.key = step.key;
  report.code = static_cast<std::size_t>(std::ranges::find(plan.steps, step.identity, &Step::identity) - plan.steps.begin());
  return report;
}

/// Of the graph that the stages were formed of; the stages of each kind are formed in the order of its plan.
std::string add_walks(const Graph& graph, bool fuse, std::vector<StageReport>& stages) {
  std::vector<StageReport*> formed;
  for (StageReport& stage : stages) formed.push_back(&stage);
  std::ranges::sort(formed, {}, &StageReport::place);
  for (const StagePlan& plan : plan_stages(graph, fuse)) {
    const AttentionRoles* roles = attention_in(plan.roles);
    if (roles == nullptr) continue;
    const auto found = std::ranges::find_if(formed, [&](const StageReport* s) { return s->kind == plan.kind() && !s->walk; });
    if (found == formed.end()) return "internal: the stages are not those of the plan";
    const Names rows = graph.node(roles->result()).type.dims;
    const bool has_weights = roles->softmax >= 0 && roles->matmul >= 0;
    (*found)->walk = KeyWalk{has_weights ? roles->softmax : roles->score(graph), roles->queries, rows.without({roles->queries, roles->value_depth})};
  }
  return {};
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
  const bool is_on_device = target.device != Device::cpu;
  KernelReport report;
  for (std::size_t number = 0; number < plan.steps.size(); ++number) {
    StepSchedules schedules = schedules_of(plan, plan.steps[number], target, prepared.schedule);
    if (!schedules.problem.empty()) return fail(std::move(schedules.problem));
    StageReport& stage = report.stages.emplace_back(stage_of(plan, number, is_on_device));
    stage.schedules = std::move(schedules.of);
    stage.sizes = std::move(schedules.rule);
  }
  if (!is_on_device) report.sweeps = plan.sweeps;
  report.staged = to_graph(function);
  report.owner = context;
  if (!report.staged.problem().empty()) return fail(fmt::format("its stages together: {}", report.staged.problem().view()));
  if (std::string problem = add_walks(report.staged, prepared.staging.fuse, report.stages); !problem.empty()) return fail(std::move(problem));
  return report;
}

Portion Work::all_blocks() const {
  Portion all;
  for (const std::optional<Portion>& visited : blocks) {
    if (!visited) continue;
    all.part += visited->part;
    all.whole += visited->whole;
    all.doubt += visited->doubt;
  }
  return all;
}

Shape extents_in(const KernelReport& report, const Shape& extents) {
  Shape all = extents;
  for (const DimInfo& info : report.staged.dim_infos())
    if (const std::optional<std::int64_t> extent = evaluate(info.derivation, all)) all.try_emplace(std::string(info.name()), *extent);
  return all;
}

Name queries_of(const Graph& graph, int weights, Name keys) {
  const Names rows = graph.node(weights).type.dims.without({keys});
  if (rows.has("queries") || rows.empty()) return "queries";
  for (int id = weights + 1; id < static_cast<int>(graph.nodes().size()); ++id) {
    const auto* matmul = std::get_if<Matmul>(&graph.node(id).op);
    if (matmul == nullptr || !matmul->over.has(keys)) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const int value = graph.node(id).inputs[1 - side];
      if (!reaches(graph, graph.node(id).inputs[side], weights) || reaches(graph, value, weights)) continue;
      const Names own = rows.without(graph.node(value).type.dims);
      if (!own.empty()) return own[own.size() - 1];
    }
  }
  return rows[rows.size() - 1];
}

std::optional<KeyWalk> walk_of(const StageReport& stage, const Shape& extents) {
  const std::optional<BlockSizes> sizes = stage.walk ? stage.schedule_for(extents).blocks : std::nullopt;
  if (!sizes) return std::nullopt;
  KeyWalk walk = *stage.walk;
  walk.query_tile = sizes->query_tile;
  walk.query_group = sizes->query_group;
  walk.key_tile = sizes->key_tile;
  walk.edge_tile = sizes->edge_tile;
  return walk;
}

Work work_of(const KernelReport& report, const Shape& given, const Arrays& inputs) {
  const Shape extents = extents_in(report, given);
  // as the compiler writes the graph: there the masks of scores stand outside of a concat
  const Graph& graph = report.staged;
  Work work;
  for (const StageReport& stage : report.stages) work.sizes.push_back(stage.sizes.size_of(extents));
  work.pairs = count_visible_pairs(graph, extents, inputs);
  work.flops = matmul_flops(graph, extents, work.pairs);
  for (const StageReport& stage : report.stages) {
    work.blocks.emplace_back();
    const std::optional<KeyWalk> walk = walk_of(stage, extents);
    if (!walk) continue;
    const Portion visited = count_visited_blocks(graph, *walk, extents, inputs);
    work.blocks.back() = visited;
    const auto visible = std::ranges::find(work.pairs, walk->node, &VisiblePairs::node);
    work.is_sparse = work.is_sparse || (visible != work.pairs.end() && hides_few_blocks(visible->pairs, visited));
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
