#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringSet.h>

#include <map>
#include <tuple>
#include <vector>

#include "codegen/dialect/extents.h"
#include "codegen/dialect/import.h"

namespace attune {
namespace {

/// Rebuilds operations in a graph.
class Reader {
 public:
  explicit Reader(Graph& graph) : graph_(graph) {}

  void argument(mlir::Value argument, Name name) {
    const Type type = type_of(argument.getType());
    for (Name dim : type.dims) graph_.dim(dim);
    values_[argument] = graph_.input(name, type.dims, type.kind);
  }

  /// The operations of the block but its end.
  void body(mlir::Block& block) {
    for (mlir::Operation& operation : block.without_terminator()) {
      if (auto stage = llvm::dyn_cast<StageOp>(operation))
        inline_stage(stage);
      else
        add(operation);
    }
  }

  Value value(mlir::Value v) {
    const auto found = values_.find(v);
    if (found != values_.end()) return found->second;
    graph_.fail(Here::current(), "internal: an operation stands before what it reads");
    return {&graph_, 0};
  }

 private:
  void add(mlir::Operation& operation) {
    const std::optional<AnyOp> op = op_of(&operation);
    if (!op) return graph_.fail(Here::current(), "graph: '", std::string_view(operation.getName().getStringRef()),
                                "' is not an operation of the language");
    llvm::SmallVector<Value> operands;
    for (mlir::Value operand : operation.getOperands()) operands.push_back(value(operand));
    Made key{operation.getName().getAsOpaquePointer(), operation.getAttrDictionary().getAsOpaquePointer(), {}};
    for (const Value operand : operands) std::get<2>(key).push_back(operand.id);
    if (const auto same = of_stages_.find(key); is_in_stage_ && same != of_stages_.end()) {
      values_[operation.getResult(0)] = same->second;
      return;
    }
    values_[operation.getResult(0)] = std::visit(
        [&](const auto& o) {
          if constexpr (requires { o.dim; }) graph_.dim(o.dim);
          return graph_.add(o, std::span<const Value>(operands.data(), operands.size()), Here::current());
        },
        *op);
    if (is_in_stage_) of_stages_[key] = values_[operation.getResult(0)];
    for (Name dim : dims_of(values_[operation.getResult(0)])) graph_.dim(dim);  // one whose extent is stated alone
  }

  /// What several stages compute each for itself is once in the graph: together they may have more operations than a graph can.
  void inline_stage(StageOp stage) {
    is_in_stage_ = true;
    for (auto [argument, operand] : llvm::zip(stage.body().getArguments(), stage->getOperands())) values_[argument] = value(operand);
    body(stage.body());
    for (auto [result, yielded] : llvm::zip(stage->getResults(), stage.body().getTerminator()->getOperands()))
      values_[result] = value(yielded);
    is_in_stage_ = false;
  }

  using Made = std::tuple<const void*, const void*, std::vector<int>>;  // an operation's name and attributes, and the nodes that it reads

  Graph& graph_;
  std::map<Made, Value> of_stages_;
  bool is_in_stage_ = false;
  llvm::DenseMap<mlir::Value, Value> values_;
};

/// States the extents that are known of dims that follow from nothing.
void fix_extents(Graph& graph, const KnownExtents& known) {
  llvm::SmallVector<Name> names;
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::free) names.push_back(info.name());
  for (Name name : names)
    if (const auto found = known.find(name); found != known.end()) graph.dim(name, found->second);
}

/// States the numbers in attn.dims of dims that the stage has: two that are equal may be renamed into each other.
void fix_recorded(Graph& graph, mlir::func::FuncOp function, StageOp stage) {
  llvm::StringSet<> made;
  for (mlir::Operation& operation : stage.body().without_terminator())
    for (const TypeDim& dim : llvm::cast<TensorType>(operation.getResult(0).getType()).dims()) made.insert(dim.name);
  for (const Derivation& d : recorded_derivations(function))
    if (d.formula == Formula::fixed && made.contains(llvm::StringRef(d.dim))) graph.derive(d, "graph", Here::current());
}

Name numbered(char letter, unsigned number, mlir::MLIRContext* context) {
  return mlir::StringAttr::get(context, fmt::format("{}{}", letter, number)).getValue();
}

}  // namespace

Graph to_graph(mlir::func::FuncOp function) {
  Graph graph;
  for (const Derivation& d : recorded_derivations(function)) graph.derive(d, "graph", Here::current());
  Reader reader(graph);
  for (mlir::BlockArgument argument : function.getArguments()) {
    const auto name = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), name_attribute);
    reader.argument(argument, name.getValue());
  }
  reader.body(function.getBody().front());
  fix_extents(graph, known_extents(function));
  auto end = llvm::cast<ReturnOp>(function.getBody().front().getTerminator());
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    graph.output_like({end.result_name(i), 0, end.result_dims(i), graph.input_named(end.result_name(i))}, reader.value(end->getOperand(i)));
  graph.finish();
  return graph;
}

std::vector<mlir::Value> values_of(const Graph& graph, mlir::func::FuncOp function) {
  std::vector<mlir::Value> values(graph.nodes().size());
  mlir::Operation* end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    values[static_cast<std::size_t>(graph.outputs()[i].node)] = end->getOperand(i);
  for (std::size_t n = values.size(); n-- > 0;) {  // users have greater numbers than what they use
    if (std::holds_alternative<Input>(graph.nodes()[n].op)) {
      values[n] = function.getArgument(static_cast<unsigned>(n));
      continue;
    }
    for (const auto& [i, operand] : llvm::enumerate(graph.nodes()[n].operands()))
      values[static_cast<std::size_t>(operand)] = values[n].getDefiningOp()->getOperand(static_cast<unsigned>(i));
  }
  return values;
}

Graph to_graph(StageOp stage) {
  Graph graph;
  Reader reader(graph);
  mlir::MLIRContext* context = stage.getContext();
  for (mlir::BlockArgument argument : stage.body().getArguments())
    reader.argument(argument, numbered('a', argument.getArgNumber(), context));
  auto function = stage->getParentOfType<mlir::func::FuncOp>();
  if (function) fix_recorded(graph, function, stage);
  reader.body(stage.body());
  if (function) fix_extents(graph, known_extents(function));
  for (const auto& [i, yielded] : llvm::enumerate(stage.body().getTerminator()->getOperands())) {
    const Value value = reader.value(yielded);
    graph.output(numbered('r', static_cast<unsigned>(i), context), value, dims_of(value));
  }
  return graph;
}

std::vector<DimInfo> dims_of(mlir::func::FuncOp function) {
  const Graph graph = to_graph(function);
  return {graph.dim_infos().begin(), graph.dim_infos().end()};
}

std::string problem_of(const Graph& graph) {
  const std::string_view problem = graph.problem().view();
  return std::string(problem.starts_with("line ") ? problem.substr(problem.find(": ") + 2) : problem);
}

std::optional<AnyOp> op_of(mlir::Operation* operation) {
  std::optional<AnyOp> result;
  [&]<class... Definition>(std::type_identity<std::variant<Definition...>>) {
    const auto match = [&]<class D>(std::type_identity<D>) {
      if constexpr (!std::is_same_v<D, Input>)
        if (auto op = llvm::dyn_cast<GraphOp<D>>(operation)) result = op.definition();
    };
    (match(std::type_identity<Definition>{}), ...);
  }(std::type_identity<AnyOp>{});
  return result;
}

}  // namespace attune
