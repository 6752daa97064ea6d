#include "codegen/passes/rewriting.h"

#include <fmt/format.h>

namespace attune {
namespace {

/// The extents of the dims that `op` makes, where those that they follow from are known.
void add_derived(const AnyOp& op, std::span<const Type> operands, KnownExtents& known) {
  const auto add = [&](const Derivation& d) {
    if (const std::optional<std::int64_t> extent = evaluate(d, known)) known.emplace(d.dim, *extent);
  };
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.derive(operands, add); }) o.derive(operands, add);
      },
      op);
}

/// `seen`: values that do not reach a softmax.
bool reaches_softmax(mlir::Value value, llvm::DenseSet<mlir::Value>& seen) {
  if (!seen.insert(value).second) return false;
  return llvm::any_of(value.getUsers(), [&](mlir::Operation* user) {
    if (llvm::isa<GraphOp<Softmax>>(user)) return true;
    return (is_elementwise(user) || llvm::isa<GraphOp<Concat>, GraphOp<Merge>>(user)) && reaches_softmax(user->getResult(0), seen);
  });
}

}  // namespace

mlir::Value add_operation(const AnyOp& op, mlir::ValueRange operands, mlir::Operation* like, mlir::OpBuilder& builder) {
  llvm::SmallVector<Type> types;
  KnownExtents known;
  const auto know = [&](mlir::Value value) {
    for (const TypeDim& dim : llvm::cast<TensorType>(value.getType()).dims())
      if (dim.extent != 0) known.emplace(dim.name.str(), dim.extent);
  };
  for (mlir::Value operand : operands) {
    types.push_back(type_of(operand.getType()));
    know(operand);
  }
  know(like->getResult(0));  // an index has no operands
  add_derived(op, {types.data(), types.size()}, known);
  const Element element = llvm::cast<TensorType>(like->getResult(0).getType()).element();
  const Element reals = element == Element::real ? Element::real : Element::f32;
  const Type type = check_operation(op, {types.data(), types.size()}).type;
  return create_operation(op, operands, TensorType::of(builder.getContext(), type, known, reals), builder, like->getLoc())->getResult(0);
}

bool is_elementwise(mlir::Operation* op) {
  const std::optional<AnyOp> definition = op_of(op);
  return definition && std::visit([]<class D>(const D&) { return PointwiseOp<D>; }, *definition);
}

bool has_loop(mlir::Operation* op) {
  const std::optional<AnyOp> definition = op_of(op);
  return definition && std::visit([]<class D>(const D&) { return requires { D::has_loop; }; }, *definition);
}

llvm::SetVector<mlir::Value> made_of(mlir::Value value, Name along) {
  llvm::SetVector<mlir::Value> values;
  values.insert(value);
  for (std::size_t i = 0; i < values.size(); ++i) {
    mlir::Operation* op = values[i].getDefiningOp();
    if (op != nullptr && is_elementwise(op) && (along.empty() || dims_of(values[i]).has(along))) values.insert(op->operand_begin(), op->operand_end());
  }
  return values;
}

bool is_computed_along(mlir::Value value, Name dim) {
  return llvm::any_of(made_of(value, dim), [&](mlir::Value part) {
    mlir::Operation* op = part.getDefiningOp();
    return op != nullptr && dims_of(part).has(dim) && has_loop(op);
  });
}

std::optional<Type> type_after(const AnyOp& op, llvm::ArrayRef<Type> operands) {
  const Checked checked = check_operation(op, {operands.data(), operands.size()});
  return checked.problem.empty() ? std::optional(checked.type) : std::nullopt;
}

bool is_score(mlir::Value value) {
  llvm::DenseSet<mlir::Value> seen;
  return reaches_softmax(value, seen);
}

std::optional<double> constant_of(mlir::Value value) {
  auto constant = value.getDefiningOp<GraphOp<Constant>>();
  return constant ? std::optional(constant.definition().value) : std::nullopt;
}

mlir::Value with_operand(GraphOp<Matmul> product, unsigned i, mlir::Value operand, mlir::OpBuilder& builder) {
  llvm::SmallVector<mlir::Value> operands(product->getOperands());
  operands[i] = operand;
  return add_operation(product.definition(), operands, product, builder);
}

mlir::Value has_positions(Name dim, mlir::Operation* like, mlir::OpBuilder& builder) {
  const mlir::Value none = add_operation(Constant{0, Kind::i64}, {}, like, builder);
  return add_operation(Greater{}, {add_operation(Extent{dim}, {}, like, builder), none}, like, builder);
}

bool asks_for_positions(mlir::Value condition, Name dim) {
  auto greater = condition.getDefiningOp<GraphOp<Greater>>();
  auto extent = greater ? greater->getOperand(0).getDefiningOp<GraphOp<Extent>>() : GraphOp<Extent>();
  return extent && extent.definition().dim == dim && constant_of(greater->getOperand(1)) == 0.0;
}

Names dims_of(mlir::Value value) { return type_of(value.getType()).dims; }

bool has_room_for_dim(mlir::Operation* op) {
  return dims_of(op->getParentOfType<mlir::func::FuncOp>()).size() < static_cast<std::size_t>(Graph::max_dims);
}

Name fresh_dim(mlir::func::FuncOp function, const std::string& stem) {
  const std::vector<DimInfo> dims = dims_of(function);
  std::string name = stem;
  for (int number = 2; llvm::any_of(dims, [&](const DimInfo& info) { return info.name() == name; }); ++number)
    name = fmt::format("{}_{}", stem, number);
  return mlir::StringAttr::get(function.getContext(), name).getValue();
}

}  // namespace attune
