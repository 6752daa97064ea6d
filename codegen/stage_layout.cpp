#include "codegen/stage_layout.h"

#include <algorithm>
#include <optional>

#include "codegen/import.h"
#include "codegen/stage_plan.h"

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

/// The dims of the stage's weights beside queries and keys.
std::vector<std::string> dims_of_heads(StageOp online_softmax) {
  const Graph graph = to_graph(online_softmax);
  std::vector<std::string> dims;
  for (int node = 0; node < static_cast<int>(graph.nodes().size()); ++node)
    if (const auto match = match_online_softmax(graph, node).match)
      for (const Name dim : graph.node(match->softmax).type.dims)
        if (dim != match->queries && dim != match->keys) dims.emplace_back(dim);
  return dims;
}

}  // namespace

std::vector<std::string> dims_of(TensorType type) {
  std::vector<std::string> dims;
  for (const TypeDim& dim : type.dims()) dims.push_back(dim.name.getValue().str());
  return dims;
}

std::vector<std::string> dims_between_stages(StageOp stage) {
  std::vector<std::string> dims = dims_of(llvm::cast<TensorType>(stage->getResult(0).getType()));
  for (mlir::OpOperand& use : stage->getResult(0).getUses()) {
    auto user = llvm::dyn_cast<StageOp>(use.getOwner());
    if (!user) continue;
    if (const auto gathered = gathered_dim(user, use.getOperandNumber())) {
      std::ranges::stable_partition(dims, [&](const std::string& dim) { return dim != *gathered; });
      return dims;
    }
    if (user.kind() != "online_softmax") continue;
    const std::vector<std::string> heads = dims_of_heads(user);
    std::ranges::stable_partition(dims, [&](const std::string& dim) { return std::ranges::find(heads, dim) != heads.end(); });
    return dims;
  }
  return dims;
}

}  // namespace attune
