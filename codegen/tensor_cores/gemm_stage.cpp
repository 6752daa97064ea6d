#include "codegen/tensor_cores/gemm_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor_cores/emitted_graph.h"

namespace attune::tensor_cores {
namespace {

bool has(const std::vector<std::string>& dims, std::string_view dim) { return std::ranges::find(dims, dim) != dims.end(); }

/// Those of an operand's dims that are not in the others, in the order of memory.
std::vector<std::string> without(const std::vector<std::string>& dims, const std::vector<std::string>& batch, const std::vector<std::string>& over) {
  std::vector<std::string> own;
  for (const std::string& dim : dims)
    if (!has(batch, dim) && !has(over, dim)) own.push_back(dim);
  return own;
}

/// Sorts the operands' dims: those contracted, those of both, and each operand's own.
void sort_dims(GemmStage& stage, const Names& over) {
  for (const std::string& dim : stage.a.dims)
    if (over.has(dim))
      stage.over.push_back(dim);
    else if (has(stage.b.dims, dim))
      stage.batch.push_back(dim);
  stage.rows = without(stage.a.dims, stage.batch, stage.over);
  stage.columns = without(stage.b.dims, stage.batch, stage.over);
}

/// Why the operands' elements do not lie in memory as chunks of 16 bytes are loaded; empty if they do.
std::string order_problem(const KernelSteps& plan, const Step& step, const GemmStage& stage) {
  const auto name = [&](const Operand& operand) -> const std::string& { return plan.tensors[step.inputs[operand.input]].name; };
  const auto is_behind = [&](const std::string& dim) { return has(stage.over, dim) && dim != stage.over.back(); };
  for (const Operand* operand : {&stage.a, &stage.b})
    if (!operand->dims.empty() && is_behind(operand->dims.back()))
      return fmt::format("tensor cores contract dims in one order, and '{}' is not stored in that of '{}'", name(*operand), name(stage.a));
  for (const Operand* operand : {&stage.a, &stage.b})
    if (operand->dims.empty() || has(stage.batch, operand->dims.back()))
      return fmt::format("tensor cores load rows that lie side by side, and of '{}' different products do", name(*operand));
  return {};
}

}  // namespace

std::vector<std::string> GemmStage::aligned_dims() const {
  std::vector<std::string> aligned;
  for (const auto& [operand, own] : {std::pair(&a, &rows), std::pair(&b, &columns)}) {
    const std::vector<std::string>& along = !own->empty() && own->back() == operand->dims.back() ? *own : over;
    if (along.size() > 1) aligned.push_back(along.back());
    const DimPlace& innermost = operand->places.back();
    for (std::size_t d = 0; d < operand->dims.size(); ++d)  // in a dim that is split the strides are not the tensor's
      if (operand->places[d].stored == innermost.stored && !operand->places[d].behind.empty()) aligned.push_back(operand->places[d].behind.back());
  }
  return aligned;
}

GemmAnswer gemm_stage(const KernelSteps& plan, const Step& step) {
  const auto refuse = [](std::string problem) { return GemmAnswer{std::nullopt, std::move(problem)}; };
  const auto* roles = std::get_if<GemmRoles>(&step.roles);
  if (roles == nullptr) return refuse(fmt::format("tensor cores compute products, and the stage is {}", step.kind()));
  const Node& matmul = step.graph.node(roles->matmul);
  GemmStage stage;
  stage.matmul = roles->matmul;
  stage.result = step.graph.outputs()[0].node;
  OperandAnswer a = read_operand(plan, step, matmul.inputs[0], "a product's operand"),
                b = read_operand(plan, step, matmul.inputs[1], "a product's operand");
  for (const OperandAnswer* answer : {&a, &b})
    if (!answer->problem.empty()) return refuse(answer->problem);
  // Columns are the dims that run fastest in the result's memory: there a thread's elements lie side by side.
  const std::vector<std::string>& out = plan.tensors[step.outputs[0]].dims;
  if (!out.empty() && !has(b.operand.dims, out.back())) std::swap(a, b);
  stage.a = std::move(a.operand);
  stage.b = std::move(b.operand);
  for (const Operand* operand : {&stage.a, &stage.b})
    if (std::string problem = storage_problem(plan, step, *operand, {Element::bf16, Element::f16, Element::f32}); !problem.empty())
      return refuse(std::move(problem));
  sort_dims(stage, std::get<Matmul>(matmul.op).over);
  if (std::string problem = order_problem(plan, step, stage); !problem.empty()) return refuse(std::move(problem));
  if (const std::string_view name = operation_without_code(step.graph, stage.result, {stage.matmul}); !name.empty())
    return refuse(fmt::format("tensor cores have no code for '{}' of the result", name));
  return {std::move(stage), {}};
}

}  // namespace attune::tensor_cores
