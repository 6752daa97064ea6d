#include "codegen/steps/block_graph.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <algorithm>
#include <optional>

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

namespace {

/// All but the node `sum` compute each position along the dim by itself.
bool is_apart_but_for(std::optional<std::size_t> sum, const Graph& graph, std::string_view dim) {
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
    if (is_whole[n] ? !is_made_of_whole(n) : n != sum && !is_apart(n)) return false;
  return true;
}

/// The only product or sum of terms that sums over the dim.
std::optional<std::size_t> sum_over(const Graph& graph, std::string_view dim) {
  std::optional<std::size_t> sum;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const auto sums = [&]<class Op>(const Op& op) {
      if constexpr (std::is_same_v<Op, Matmul> || std::is_same_v<Op, ReduceSum>) return op.over.has(dim);
      else return false;
    };
    if (!std::visit(sums, graph.nodes()[n].op)) continue;
    if (sum) return {};
    sum = n;
  }
  return sum;
}

/// Twice the sum makes twice the node, if it makes anything of it.
bool is_linear_in(const std::vector<bool>& is_made_of_sum, const Node& node) {
  const auto is_made = [&](std::size_t operand) { return static_cast<bool>(is_made_of_sum[static_cast<std::size_t>(node.inputs[operand])]); };
  if (std::holds_alternative<Multiply>(node.op)) return is_made(0) != is_made(1);
  if (std::holds_alternative<Divide>(node.op)) return !is_made(1);
  return std::holds_alternative<Rename>(node.op) || std::holds_alternative<Negate>(node.op);
}

/// The operation for a block: what names the whole dim names the block's.
template <class Op>
Op in_block(Op op, std::string_view whole, Name block) {
  const auto change = [&]<class T>(T& field) {
    if constexpr (std::is_same_v<T, Name> && !std::is_same_v<Op, Extent>) {
      if (field == whole) field = block;
    } else if constexpr (std::is_same_v<T, Names>) {
      Names names;
      for (const Name name : field) names.add(name == whole ? block : name);
      field = names;
    }
  };
  std::apply([&](const auto&... field) { (change(op.*field.member), ...); }, Op::fields);
  return op;
}

}  // namespace

bool is_apart_along(const Graph& graph, std::string_view dim) { return is_apart_but_for({}, graph, dim); }

bool adds_up_along(const Graph& graph, std::string_view dim) {
  const std::optional<std::size_t> sum = sum_over(graph, dim);
  if (!sum || graph.outputs().size() != 1 || !is_apart_but_for(sum, graph, dim)) return false;
  std::vector<bool> is_made_of_sum(graph.nodes().size(), false);
  is_made_of_sum[*sum] = true;
  for (std::size_t n = *sum + 1; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    is_made_of_sum[n] = std::ranges::any_of(node.operands(), [&](int o) { return static_cast<bool>(is_made_of_sum[static_cast<std::size_t>(o)]); });
    if (is_made_of_sum[n] && !is_linear_in(is_made_of_sum, node)) return false;
  }
  return is_made_of_sum[static_cast<std::size_t>(graph.outputs()[0].node)];
}

namespace {

class BlockGraph {
 public:
  BlockGraph(const Graph& stage, const std::vector<SweptDim>& dims, mlir::MLIRContext* context) : stage_(stage), dims_(dims), context_(context) {
    for (const SweptDim& dim : dims) is_whole_.push_back(whole_nodes(stage, dim.whole));
    if (!dims.empty() && adds_up_along(stage, dims.back().whole)) sum_ = sum_over(stage, dims.back().whole);
  }

  Graph make() {
    for (const DimInfo& info : stage_.dim_infos())
      if (info.derivation.formula == Formula::fixed) graph_.dim(info.name(), info.derivation.value);
    for (const Node& node : stage_.nodes()) {
      if (sum_ && before_.graph == nullptr && !std::holds_alternative<Input>(node.op)) add_before();
      values_.push_back(std::visit([&](const auto& op) { return add(op, node); }, node.op));
      for (const Name dim : dims_of(values_.back())) graph_.dim(dim);
    }
    for (const Output& output : stage_.outputs()) {
      const Value value = sum_ ? added_up(output) : values_[static_cast<std::size_t>(output.node)];
      graph_.output(output.name, value, dims_of(value));
    }
    return graph_;
  }

 private:
  Name kept(const std::string& name) const { return mlir::StringAttr::get(context_, name).getValue(); }

  /// The swept dim of which the node has a block.
  const SweptDim* swept(Name dim, std::size_t node) const {
    for (std::size_t i = 0; i < dims_.size(); ++i)
      if (dims_[i].whole == dim && !is_whole_[i][node]) return &dims_[i];
    return nullptr;
  }

  Names names_in_block(std::size_t node) {
    Names names;
    for (const Name dim : stage_.nodes()[node].type.dims) names.add(swept(dim, node) == nullptr ? dim : kept(swept(dim, node)->block));
    for (const Name dim : names) graph_.dim(dim);
    return names;
  }

  /// The result of the blocks before, as the input that follows the stage's own.
  void add_before() {
    const auto result = static_cast<std::size_t>(stage_.outputs()[0].node);
    before_ = graph_.input(kept(fmt::format("a{}", values_.size())), names_in_block(result), stage_.nodes()[result].type.kind);
  }

  /// With the result of the blocks before, which is not there yet at the first.
  Value added_up(const Output& output) {
    const Value is_later = extent(graph_.dim(kept(dims_.back().start))) > 0;
    return values_[static_cast<std::size_t>(output.node)] + select(is_later, before_, 0.0);
  }

  template <class Op>
  Value add(const Op& op, const Node& node) {
    const std::size_t number = values_.size();
    if constexpr (std::is_same_v<Op, Input>) {
      return graph_.input(op.label, names_in_block(number), node.type.kind);
    } else {
      if constexpr (std::is_same_v<Op, Index>)
        if (const SweptDim* dim = swept(op.dim, number)) return index(graph_.dim(kept(dim->block))) + extent(graph_.dim(kept(dim->start)));
      if constexpr (requires { op.dim; }) graph_.dim(op.dim);
      llvm::SmallVector<Value> operands;
      for (const int operand : node.operands()) operands.push_back(values_[static_cast<std::size_t>(operand)]);
      Op changed = number == sum_ ? in_block(op, dims_.back().whole, kept(dims_.back().block)) : op;
      for (const SweptDim& dim : dims_)
        if (dim.band) changed = in_block(changed, dim.whole, kept(dim.block));
      return graph_.add(changed, std::span<const Value>(operands.data(), operands.size()), Here::current());
    }
  }

  const Graph& stage_;
  const std::vector<SweptDim>& dims_;
  mlir::MLIRContext* context_;
  std::vector<std::vector<bool>> is_whole_;  // of each swept dim
  std::optional<std::size_t> sum_;           // the node that sums over the last of them, where the result adds up
  Graph graph_;
  std::vector<Value> values_;  // of the stage's nodes
  Value before_{};
};

}  // namespace

Graph in_blocks(const Graph& stage, const std::vector<SweptDim>& dims, mlir::MLIRContext* context) { return BlockGraph(stage, dims, context).make(); }

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
