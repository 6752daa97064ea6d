#include "codegen/dialect/dialect.h"

#include "codegen/dialect/extents.h"
#include "codegen/dialect/import.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(attune::AttnDialect)

namespace attune {
namespace {

/// A field that the operation does not have, or null; names with a point belong to other dialects.
mlir::LogicalResult refuse_unknown_fields(mlir::Operation* op, std::string_view who, llvm::ArrayRef<llvm::StringRef> fields) {
  for (const mlir::NamedAttribute& attribute : op->getAttrs()) {
    const llvm::StringRef name = attribute.getName().getValue();
    if (llvm::is_contained(fields, name) || name.contains('.')) continue;
    mlir::InFlightDiagnostic error = op->emitError(llvm::StringRef(who)) << ": has no field '" << name << "'; ";
    if (fields.empty()) return error << "it has none";
    error << "fields are ";
    llvm::interleaveComma(fields, error);
    return error;
  }
  return mlir::success();
}

/// The attribute without its type where the parser gives it the same: not where a number is written as bits.
std::string text_of_field(mlir::Attribute attribute) {
  std::string typed, untyped;
  llvm::raw_string_ostream(typed) << attribute;
  const auto number = llvm::dyn_cast<mlir::TypedAttr>(attribute);
  if (!number || !(number.getType().isSignlessInteger(64) || number.getType().isF64())) return typed;
  llvm::raw_string_ostream stream(untyped);
  attribute.print(stream, /*elideType=*/true);
  return untyped.starts_with("0x") ? typed : untyped;
}

/// {over = "keys", value = 512}
void print_fields(llvm::ArrayRef<mlir::NamedAttribute> fields, mlir::OpAsmPrinter& printer) {
  if (fields.empty()) return;
  printer << '{';
  llvm::interleaveComma(fields, printer, [&](const mlir::NamedAttribute& field) {
    printer.printKeywordOrString(field.getName().getValue());
    printer << " = " << text_of_field(field.getValue());
  });
  printer << '}';
}

bool holds_tensors(mlir::TypeRange types) {
  return llvm::all_of(types, [](mlir::Type type) { return llvm::isa<TensorType>(type); });
}

}  // namespace

namespace detail {

mlir::ParseResult parse_operation(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  mlir::FunctionType type;
  const llvm::SMLoc at = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), at, state.operands))
    return mlir::failure();
  state.addTypes(type.getResults());
  return mlir::success();
}

void print_operation(mlir::Operation* op, mlir::OpAsmPrinter& printer) {
  if (op->getNumOperands() > 0) printer << ' ' << op->getOperands();
  if (!op->getAttrs().empty()) printer << ' ';
  print_fields(op->getAttrs(), printer);
  printer << " : ";
  printer.printFunctionalType(op);
}

mlir::LogicalResult verify_operation(mlir::Operation* op, const AnyOp& definition, llvm::ArrayRef<llvm::StringRef> fields) {
  const std::string_view who = std::visit([](const auto& d) { return std::string_view(d.name); }, definition);
  if (mlir::failed(refuse_unknown_fields(op, who, fields))) return mlir::failure();
  if (!holds_tensors(op->getOperandTypes()) || !holds_tensors(op->getResultTypes()))
    return op->emitError(llvm::StringRef(who)) << ": every operand and the result must be an !attn.tensor";
  llvm::SmallVector<Type> types;
  for (mlir::Type type : op->getOperandTypes()) types.push_back(type_of(type));
  const Checked checked = check_operation(definition, {types.data(), types.size()});
  if (!checked.problem.empty()) return op->emitError(llvm::StringRef(checked.problem.view()));
  if (const Type stated = type_of(op->getResultTypes()[0]); stated != checked.type)
    return op->emitError(llvm::StringRef(sentence(who, ": the result is stated as ", stated.kind, " ", stated.dims, "; it is ",
                                                  checked.type.kind, " ", checked.type.dims).view()));
  return mlir::success();
}

}  // namespace detail

AttnDialect::AttnDialect(mlir::MLIRContext* context)
    : Dialect(getDialectNamespace(), context, mlir::TypeID::get<AttnDialect>()) {
  addTypes<TensorType>();
  addOperations<ReturnOp, StageOp, YieldOp>();
  [this]<class... Definition>(std::type_identity<std::variant<Definition...>>) {
    const auto add = [this]<class D>(std::type_identity<D>) {
      if constexpr (!std::is_same_v<D, Input>) addOperations<GraphOp<D>>();  // an input is an argument of the function
    };
    (add(std::type_identity<Definition>{}), ...);
  }(std::type_identity<AnyOp>{});
}

mlir::Type AttnDialect::parseType(mlir::DialectAsmParser& parser) const {
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword)) return {};
  if (keyword == "tensor") return TensorType::parse(parser);
  parser.emitError(parser.getNameLoc(), "attn: has no type '") << keyword << "'; it has tensor";
  return {};
}

void AttnDialect::printType(mlir::Type type, mlir::DialectAsmPrinter& printer) const {
  printer << "tensor";
  llvm::cast<TensorType>(type).print(printer);
}

mlir::Operation* AttnDialect::materializeConstant(mlir::OpBuilder& builder, mlir::Attribute value, mlir::Type type, mlir::Location at) {
  const std::optional<double> number = Codec<double>::decode(value);
  const auto tensor = llvm::dyn_cast<TensorType>(type);
  if (!number || !tensor || !tensor.dims().empty()) return nullptr;
  return create_operation(Constant{*number, kind_of(tensor.element())}, {}, tensor, builder, at);
}

}  // namespace attune
