#include "codegen/steps/block_graph.h"

#include <llvm/ADT/SmallVector.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <algorithm>

namespace attune {

std::vector<bool> whole_nodes(const Graph& graph, std::string_view dim) {
  const auto count = graph.nodes().size();
  std::vector<bool> is_read(count), is_whole(count, true);
  const auto reads_whole = [&](const Node& user, std::size_t number) {
    const auto* rename = std::get_if<Rename>(&user.op);
    return (rename != nullptr && std::string_view(rename->from) == dim) || (user.type.dims.has(dim) && is_whole[number]);
  };
  for (const Output& output : graph.outputs()) is_whole[static_cast<std::size_t>(output.node)] = false;
  for (std::size_t n = count; n-- > 0;) {  // users have greater numbers than what they use
    is_whole[n] = is_whole[n] && is_read[n] && graph.nodes()[n].type.dims.has(dim);
    for (const int operand : graph.nodes()[n].operands()) {
      const auto o = static_cast<std::size_t>(operand);
      is_read[o] = true;
      is_whole[o] = is_whole[o] && reads_whole(graph.nodes()[n], n);
    }
  }
  return is_whole;
}

bool is_apart_along(const Graph& graph, std::string_view dim) {
  const std::vector<bool> is_whole = whole_nodes(graph, dim);
  const auto is_apart = [&](std::size_t n) {
    const Node& node = graph.nodes()[n];
    return std::visit(
        [&]<class Op>(const Op& op) {
          if constexpr (std::is_same_v<Op, Index> || std::is_same_v<Op, Extent> || std::is_same_v<Op, Input>) return true;
          else if constexpr (std::is_same_v<Op, Dropout>) return false;  // it goes by the number of an element among all
          else if constexpr (std::is_same_v<Op, Rename>) return !names_dim(op, dim) || (std::string_view(op.from) == dim && is_whole[static_cast<std::size_t>(node.inputs[0])]);
          else return !names_dim(op, dim);
        },
        node.op);
  };
  /// What is made of all positions is made of nothing that has a block of them.
  const auto is_made_of_whole = [&](std::size_t n) {
    return std::ranges::all_of(graph.nodes()[n].operands(), [&](int o) { return is_whole[static_cast<std::size_t>(o)] || !graph.node(o).type.dims.has(dim); });
  };
  for (std::size_t n = 0; n < graph.nodes().size(); ++n)
    if (is_whole[n] ? !is_made_of_whole(n) : !is_apart(n)) return false;
  return true;
}

Graph in_blocks(const Graph& stage, const std::vector<SweptDim>& dims, mlir::MLIRContext* context) {
  const auto kept = [&](const std::string& name) -> Name { return mlir::StringAttr::get(context, name).getValue(); };
  std::vector<std::vector<bool>> is_whole;  // of each dim
  for (const SweptDim& dim : dims) is_whole.push_back(whole_nodes(stage, dim.whole));
  /// The swept dim of which the node has a block.
  const auto swept = [&](Name dim, std::size_t node) -> const SweptDim* {
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i].whole == dim && !is_whole[i][node]) return &dims[i];
    return nullptr;
  };
  Graph graph;
  for (const DimInfo& info : stage.dim_infos())
    if (info.derivation.formula == Formula::fixed) graph.dim(info.name(), info.derivation.value);
  std::vector<Value> values;
  const auto add = [&]<class Op>(const Op& op, const Node& node) {
    if constexpr (std::is_same_v<Op, Input>) {
      Names own;
      for (const Name dim : node.type.dims) own.add(swept(dim, values.size()) == nullptr ? dim : kept(swept(dim, values.size())->block));
      for (const Name dim : own) graph.dim(dim);
      return graph.input(op.label, own, node.type.kind);
    } else {
      if constexpr (std::is_same_v<Op, Index>)
        if (const SweptDim* dim = swept(op.dim, values.size())) return index(graph.dim(kept(dim->block))) + extent(graph.dim(kept(dim->start)));
      if constexpr (requires { op.dim; }) graph.dim(op.dim);
      llvm::SmallVector<Value> operands;
      for (const int operand : node.operands()) operands.push_back(values[static_cast<std::size_t>(operand)]);
      return graph.add(op, std::span<const Value>(operands.data(), operands.size()), Here::current());
    }
  };
  for (const Node& node : stage.nodes()) {
    values.push_back(std::visit([&](const auto& op) { return add(op, node); }, node.op));
    for (const Name dim : dims_of(values.back())) graph.dim(dim);
  }
  for (const Output& output : stage.outputs()) {
    const Value value = values[static_cast<std::size_t>(output.node)];
    graph.output(output.name, value, dims_of(value));
  }
  return graph;
}

std::vector<SweptDim> dims_read_in_blocks(const Graph& stage, std::size_t operand, const std::vector<SweptDim>& dims) {
  std::vector<SweptDim> read;
  for (const SweptDim& dim : dims)
    if (!whole_nodes(stage, dim.whole)[operand]) read.push_back(dim);
  return read;
}

std::vector<std::string> in_blocks(std::vector<std::string> names, const std::vector<SweptDim>& dims) {
  for (std::string& name : names)
    if (const auto dim = std::ranges::find(dims, name, &SweptDim::whole); dim != dims.end()) name = dim->block;
  return names;
}

}  // namespace attune
