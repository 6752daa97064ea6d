#include "codegen/steps/stage_layout.h"

#include <algorithm>
#include <optional>

#include "codegen/dialect/import.h"
#include "codegen/plan/stage_roles.h"

namespace attune {
namespace {

/// The dim along which the stage gathers from its operand.
std::optional<std::string> gathered_dim(StageOp user, unsigned operand) {
  for (mlir::OpOperand& use : user.body().getArgument(operand).getUses()) {
    const std::optional<AnyOp> op = op_of(use.getOwner());
    const auto* gather = op && use.getOperandNumber() == 0 ? std::get_if<Gather>(&*op) : nullptr;
    if (gather != nullptr) return std::string(gather->along);
  }
  return {};
}

/// The dims of the weights beside queries and keys; of another stage none.
std::vector<std::string> dims_of_heads(StageOp stage) {
  const Graph graph = to_graph(stage);
  const StageRolesAnswer found = find_roles(stage.kind(), graph);
  std::vector<std::string> dims;
  if (const AttentionRoles* roles = attention_in(*found.roles))
    for (const Name dim : graph.node(roles->score(graph)).type.dims)
      if (dim != roles->queries && dim != roles->keys) dims.emplace_back(dim);
  return dims;
}

}  // namespace

std::vector<std::string> dims_of(TensorType type) {
  std::vector<std::string> dims;
  for (const TypeDim& dim : type.dims()) dims.push_back(dim.name.getValue().str());
  return dims;
}

std::vector<std::string> dims_between_stages(mlir::OpResult result) {
  std::vector<std::string> dims = dims_of(llvm::cast<TensorType>(result.getType()));
  const bool is_table = llvm::cast<StageOp>(result.getOwner()).kind() == llvm::StringRef(PointwiseRoles::name);
  for (mlir::OpOperand& use : result.getUses()) {
    auto user = llvm::dyn_cast<StageOp>(use.getOwner());
    if (!user) continue;
    if (const auto gathered = gathered_dim(user, use.getOperandNumber()); is_table && gathered) {
      std::ranges::stable_partition(dims, [&](const std::string& dim) { return dim != *gathered; });
      return dims;
    }
    const std::vector<std::string> heads = dims_of_heads(user);
    if (heads.empty()) continue;
    std::ranges::stable_partition(dims, [&](const std::string& dim) { return std::ranges::find(heads, dim) != heads.end(); });
    return dims;
  }
  return dims;
}

}  // namespace attune
