#include "codegen/dialect/import.h"

#include <fmt/format.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/Verifier.h>
#include <mlir/Parser/Parser.h>

#include <algorithm>

#include "codegen/dialect/identifier.h"
#include "codegen/dialect/nesting.h"

namespace attune {
namespace {

/// The fixed extents of the graph's dims.
KnownExtents fixed_extents(const Graph& graph) {
  KnownExtents known;
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::fixed) known.emplace(info.name(), info.derivation.value);
  return known;
}

/// Some operation says a formula of a dim whose extent the graph has by another, as `rename` back does. Which of two is the dim's follows from the
/// order of the variant's calls, which nodes do not keep.
bool has_two_formulas(const Graph& graph) {
  bool found = false;
  const auto look_at = [&](const Derivation& said) {
    const auto has = std::ranges::find(graph.dim_infos(), said.dim, &DimInfo::name);
    found |= has == graph.dim_infos().end() || !(has->derivation == said);
  };
  for (const Node& node : graph.nodes()) {
    llvm::SmallVector<Type> types;
    for (const int operand : node.operands()) types.push_back(graph.node(operand).type);
    const std::span<const Type> operands(types.data(), types.size());
    const auto look_at_all = [&](const auto& op) {
      if constexpr (requires { op.derive(operands, look_at); }) op.derive(operands, look_at);
    };
    std::visit(look_at_all, node.op);
  }
  return found;
}

/// Writes the fixed extents of dims that no type of the function has: extent(dim) alone may name one. Of dims with two formulas it writes all.
void record_unstated(mlir::func::FuncOp function, const Graph& graph) {
  const KnownExtents stated = known_extents(function);
  const bool writes_all = has_two_formulas(graph);
  std::vector<Derivation> unstated;
  for (const DimInfo& info : graph.dim_infos()) {
    const Derivation& d = info.derivation;
    if (d.formula != Formula::free && (writes_all || (d.formula == Formula::fixed && !stated.contains(info.name())))) unstated.push_back(d);
  }
  record_derivations(function, unstated);
}

/// The first error that MLIR reports while this lives.
class FirstError {
 public:
  FirstError(mlir::MLIRContext& context, std::string_view source)
      : source_(source), handler_(&context, [this](mlir::Diagnostic& diagnostic) { keep(diagnostic); }) {}
  const std::string& text() const { return text_; }

 private:
  void keep(mlir::Diagnostic& diagnostic) {
    if (!text_.empty() || diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) return;
    const auto at = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
    const std::string said = one_line(diagnostic.str());
    text_ = at ? fmt::format("{}: line {}: {}", source_, at.getLine(), said) : fmt::format("{}: {}", source_, said);
  }
  std::string source_, text_;
  mlir::ScopedDiagnosticHandler handler_;
};

}  // namespace

void load_dialects(mlir::MLIRContext& context) { context.loadDialect<AttnDialect, mlir::func::FuncDialect>(); }

Checked check_operation(const AnyOp& op, std::span<const Type> operands) {
  static constexpr std::array<Name, max_operands + 1> names = {"a0", "a1", "a2",  "a3",  "a4",  "a5",  "a6",  "a7", "a8",
                                                               "a9", "a10", "a11", "a12", "a13", "a14", "a15", "a16"};
  Graph scratch;
  std::array<Value, max_operands + 1> values{};
  const std::size_t count = std::min(operands.size(), values.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (Name dim : operands[i].dims) scratch.dim(dim);
    values[i] = scratch.input(names[i], operands[i].dims, operands[i].kind);
  }
  const Value result = std::visit(
      [&](const auto& o) { return scratch.add(o, std::span<const Value>(values.data(), count), Here::current()); }, op);
  return {scratch.node(result.id).type, Text(problem_of(scratch))};
}

mlir::Operation* create_operation(const AnyOp& op, mlir::ValueRange operands, TensorType result, mlir::OpBuilder& builder,
                                  mlir::Location at) {
  return std::visit(
      [&]<class Op>(const Op& o) -> mlir::Operation* {
        mlir::OperationState state(at, GraphOp<Op>::getOperationName());
        state.addOperands(operands);
        state.addTypes(result);
        state.addAttributes(encode_fields(o, builder.getContext()).getValue());
        return builder.create(state);
      },
      op);
}

llvm::SmallVector<mlir::Value> import_nodes(const Graph& graph, mlir::ValueRange inputs, const KnownExtents& known, Element reals,
                                            mlir::OpBuilder& builder, mlir::Location at) {
  llvm::SmallVector<mlir::Value> values;
  unsigned input = 0;
  for (const Node& node : graph.nodes()) {
    if (std::holds_alternative<Input>(node.op)) {
      values.push_back(inputs[input++]);
      continue;
    }
    llvm::SmallVector<mlir::Value> operands;
    for (int operand : node.operands()) operands.push_back(values[static_cast<std::size_t>(operand)]);
    const TensorType type = TensorType::of(builder.getContext(), node.type, known, reals);
    values.push_back(create_operation(node.op, operands, type, builder, at)->getResult(0));
  }
  return values;
}

mlir::OwningOpRef<mlir::ModuleOp> import_graph(const Graph& graph, std::string_view name, mlir::DictionaryAttr parameters,
                                               mlir::MLIRContext& context) {
  load_dialects(context);
  mlir::OpBuilder builder(&context);
  const mlir::Location at = builder.getUnknownLoc();
  const KnownExtents known = fixed_extents(graph);
  llvm::SmallVector<mlir::Type> arguments, results;
  llvm::SmallVector<mlir::DictionaryAttr> argument_names;
  for (const Node& node : graph.nodes()) {
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr) continue;
    arguments.push_back(TensorType::of(&context, input->type, known));
    argument_names.push_back(builder.getDictionaryAttr(builder.getNamedAttr(name_attribute, Codec<Name>::encode(&context, input->label))));
  }
  for (const Output& output : graph.outputs())
    results.push_back(TensorType::of(&context, {graph.node(output.node).type.kind, output.dims}, known));

  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(at);
  builder.setInsertionPointToStart(module->getBody());
  auto function = mlir::func::FuncOp::create(builder, at, llvm::StringRef(name), builder.getFunctionType(arguments, results));
  function.setAllArgAttrs(argument_names);
  if (parameters && !parameters.empty()) function->setAttr(parameters_attribute, parameters);
  mlir::Block* body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  const auto values = import_nodes(graph, body->getArguments(), known, Element::real, builder, at);
  llvm::SmallVector<mlir::Value> returned;
  llvm::SmallVector<Name> names;
  llvm::SmallVector<Names> dims;
  for (const Output& output : graph.outputs()) {
    returned.push_back(values[static_cast<std::size_t>(output.node)]);
    names.push_back(output.name);
    dims.push_back(output.dims);
  }
  ReturnOp::create(builder, at, returned, names, dims);
  record_unstated(function, graph);
  return module;
}

std::string graph_problem(mlir::func::FuncOp function) {
  if (!function.getBody().hasOneBlock() || !llvm::isa<ReturnOp>(function.getBody().front().back()))
    return fmt::format("graph: the function '{}' does not end in attn.return", function.getName().str());
  return problem_of(to_graph(function));
}

mlir::func::FuncOp function_of(mlir::ModuleOp module) { return *module.getOps<mlir::func::FuncOp>().begin(); }

ParsedModule parse_module(std::string_view text, std::string_view source, mlir::MLIRContext& context) {
  load_dialects(context);
  if (const std::string problem = nesting_problem(text); !problem.empty()) return {nullptr, fmt::format("{}: {}", source, problem)};
  FirstError error(context, source);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), source);
  if (!module) return {nullptr, error.text()};
  if (llvm::range_size(module->getOps()) != 1 || module->getOps<mlir::func::FuncOp>().empty())
    return {nullptr, fmt::format("{}: holds something else than one func.func; a graph is one function that ends in attn.return", source)};
  if (const std::string problem = graph_problem(function_of(*module)); !problem.empty())
    return {nullptr, fmt::format("{}: {}", source, one_line(problem))};
  return {std::move(module), {}};
}

}  // namespace attune
