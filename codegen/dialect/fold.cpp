/// What an operation is worth before anything runs: constants, and operands that come through unchanged.
#include "codegen/dialect/import.h"
#include "dsl/interpret.h"

namespace attune {
namespace {

/// The value of the operation on constants, by the interpreter; nothing where the result's kind does not have it.
std::optional<double> value_on(const AnyOp& op, llvm::ArrayRef<double> constants, mlir::TypeRange types) {
  Graph graph;
  llvm::SmallVector<Value> operands;
  for (auto [constant, type] : llvm::zip(constants, types))
    operands.push_back(graph.add(Constant{constant, type_of(type).kind}, {}, Here::current()));
  const Value result = std::visit(
      [&](const auto& o) { return graph.add(o, std::span<const Value>(operands.data(), operands.size()), Here::current()); }, op);
  graph.output("result", result, Names{});
  const Interpretation interpretation = interpret(graph, {});
  if (!interpretation.problem.empty()) return std::nullopt;
  const double value = interpretation.outputs.at("result").data[0];
  if (!Constant{value, kind_of(result)}.infer({}).problem.empty()) return std::nullopt;
  return value;
}

/// The operand that the result always equals, element by element, or -1. `constants`: the operands that are constants.
/// Nothing here loses a NaN or an infinity: x * 0 is not 0.
struct UnchangedOperand {
  llvm::ArrayRef<std::optional<double>> constants;

  int operator()(const Add&) const { return beside(0); }
  int operator()(const Subtract&) const { return constants[1] == 0 ? 0 : -1; }
  int operator()(const Multiply&) const { return beside(1); }
  int operator()(const Divide&) const { return constants[1] == 1 ? 0 : -1; }
  int operator()(const FloorDiv&) const { return constants[1] == 1 ? 0 : -1; }
  int operator()(const And&) const { return beside(1); }
  int operator()(const Or&) const { return beside(0); }
  int operator()(const Select&) const { return constants[0] ? (*constants[0] != 0 ? 1 : 2) : -1; }
  int operator()(const auto&) const { return -1; }

 private:
  int beside(double neutral) const { return constants[1] == neutral ? 0 : constants[0] == neutral ? 1 : -1; }
};

}  // namespace

mlir::OpFoldResult detail::fold_operation(mlir::Operation* op, const AnyOp& definition, llvm::ArrayRef<mlir::Attribute> operands) {
  if (const auto* constant = std::get_if<Constant>(&definition)) return Codec<double>::encode(op->getContext(), constant->value);
  const bool is_pointwise = std::visit([]<class D>(const D&) { return PointwiseOp<D>; }, definition);
  if (!is_pointwise) return {};
  llvm::SmallVector<std::optional<double>> constants;
  llvm::SmallVector<double> values;
  for (mlir::Attribute operand : operands) {
    constants.push_back(operand ? Codec<double>::decode(operand) : std::nullopt);
    if (constants.back()) values.push_back(*constants.back());
  }
  if (values.size() == operands.size()) {
    const std::optional<double> value = value_on(definition, values, op->getOperandTypes());
    return value ? mlir::OpFoldResult(Codec<double>::encode(op->getContext(), *value)) : mlir::OpFoldResult();
  }
  const int unchanged = std::visit(UnchangedOperand{constants}, definition);
  if (unchanged < 0) return {};
  const mlir::Value operand = op->getOperand(static_cast<unsigned>(unchanged));
  return operand.getType() == op->getResultTypes()[0] ? mlir::OpFoldResult(operand) : mlir::OpFoldResult();
}

}  // namespace attune
