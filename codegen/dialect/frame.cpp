/// The frame around operations: attn.return, attn.stage, attn.yield.
#include "codegen/dialect/dialect.h"
#include "codegen/dialect/extents.h"
#include "codegen/dialect/import.h"
#include "codegen/plan/stage_roles.h"

namespace attune {
namespace {

/// attn.return's attribute as lists; nothing where an item has another form.
template <class T>
std::optional<llvm::SmallVector<T>> decode_list(mlir::Attribute attribute) {
  const auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
  if (!list) return std::nullopt;
  llvm::SmallVector<T> items;
  for (mlir::Attribute item : list) {
    const std::optional<T> decoded = Codec<T>::decode(item);
    if (!decoded) return std::nullopt;
    items.push_back(*decoded);
  }
  return items;
}

mlir::LogicalResult verify_arguments(mlir::func::FuncOp function) {
  llvm::SmallVector<llvm::StringRef> seen;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!llvm::isa<TensorType>(function.getArgumentTypes()[i]))
      return function.emitError("input: argument ") << i << " is not an !attn.tensor";
    const auto name = function.getArgAttrOfType<mlir::StringAttr>(i, name_attribute);
    if (!name) return function.emitError("input: argument ") << i << " has no name; {" << name_attribute << " = \"q\"} gives one";
    if (llvm::is_contained(seen, name.getValue()))
      return function.emitError("input: ") << name.getValue() << " is there twice; every input has a name of its own";
    seen.push_back(name.getValue());
  }
  return mlir::success();
}

/// The result type of the function fits the value and the order that attn.return states.
mlir::LogicalResult verify_result(ReturnOp op, mlir::func::FuncOp function, unsigned i, Name name, const Names& dims) {
  const auto value = llvm::dyn_cast<TensorType>(op->getOperand(i).getType());
  const auto stored = llvm::dyn_cast<TensorType>(function.getResultTypes()[i]);
  if (!value || !stored) return op.emitError("output: ") << llvm::StringRef(name) << " is not an !attn.tensor";
  const Type type = type_of(value), memory = type_of(stored);
  Text problem;
  if (dims.size() != type.dims.size() || !type.dims.without(dims).empty() || !dims.without(type.dims).empty())
    problem = sentence("output: ", name, " is written as ", dims, ", but the value is ", type.dims, "; each of its dims once, in any order, is right");
  else if (memory.dims != dims)
    problem = sentence("output: ", name, " is written as ", dims, ", but the function's result is ", memory.dims);
  else if (memory.kind != type.kind)
    problem = sentence("output: ", name, " is ", type.kind, ", but the function's result is ", memory.kind);
  return problem.empty() ? mlir::success() : op.emitError(llvm::StringRef(problem.view()));
}

}  // namespace

llvm::ArrayRef<llvm::StringRef> ReturnOp::getAttributeNames() {
  static const llvm::StringRef names[] = {"names", "dims"};
  return names;
}

Name ReturnOp::result_name(unsigned result) {
  return *Codec<Name>::decode((*this)->getAttrOfType<mlir::ArrayAttr>("names")[result]);
}

Names ReturnOp::result_dims(unsigned result) {
  return *Codec<Names>::decode((*this)->getAttrOfType<mlir::ArrayAttr>("dims")[result]);
}

ReturnOp ReturnOp::create(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange values, llvm::ArrayRef<Name> names,
                          llvm::ArrayRef<Names> dims) {
  llvm::SmallVector<mlir::Attribute> name_attributes, dim_attributes;
  for (Name name : names) name_attributes.push_back(Codec<Name>::encode(builder.getContext(), name));
  for (const Names& order : dims) dim_attributes.push_back(Codec<Names>::encode(builder.getContext(), order));
  mlir::OperationState state(at, getOperationName());
  state.addOperands(values);
  state.addAttribute("names", builder.getArrayAttr(name_attributes));
  state.addAttribute("dims", builder.getArrayAttr(dim_attributes));
  return llvm::cast<ReturnOp>(builder.create(state));
}

mlir::LogicalResult ReturnOp::verify() {
  const auto names = decode_list<Name>((*this)->getAttr("names"));
  const auto dims = decode_list<Names>((*this)->getAttr("dims"));
  const std::size_t count = (*this)->getNumOperands();
  if (!names || names->size() != count) return emitError("return: names must be a list of ") << count << " names";
  if (!dims || dims->size() != count) return emitError("return: dims must be a list of ") << count << " lists of names";
  auto function = llvm::cast<mlir::func::FuncOp>((*this)->getParentOp());
  if (count == 0) return emitError("graph: has no output; attn.return takes at least one value");
  if (function.getNumResults() != count)
    return emitError("return: gives ") << count << " values, but the function has " << function.getNumResults() << " results";
  if (mlir::failed(verify_arguments(function))) return mlir::failure();
  for (unsigned i = 0; i < count; ++i)
    if (mlir::failed(verify_result(*this, function, i, (*names)[i], (*dims)[i]))) return mlir::failure();
  if (const std::string problem = extent_problem(function); !problem.empty()) return function.emitError(problem);
  return mlir::success();
}

mlir::ParseResult ReturnOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;
  const llvm::SMLoc at = parser.getCurrentLocation();
  return mlir::failure(parser.parseOperandList(operands) || parser.parseOptionalAttrDict(state.attributes) ||
                       parser.parseColonTypeList(types) || parser.resolveOperands(operands, types, at, state.operands));
}

void ReturnOp::print(mlir::OpAsmPrinter& printer) {
  printer << ' ' << (*this)->getOperands();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << (*this)->getOperandTypes();
}

llvm::ArrayRef<llvm::StringRef> StageOp::getAttributeNames() {
  static const llvm::StringRef names[] = {"kind", "decisions"};
  return names;
}

StageOp StageOp::create(mlir::OpBuilder& builder, mlir::Location at, llvm::StringRef kind, mlir::ValueRange operands,
                        mlir::TypeRange results, mlir::DictionaryAttr decisions) {
  mlir::OperationState state(at, getOperationName());
  state.addOperands(operands);
  state.addTypes(results);
  state.addAttribute("kind", builder.getStringAttr(kind));
  if (decisions) state.addAttribute("decisions", decisions);
  mlir::Block& body = state.addRegion()->emplaceBlock();
  for (mlir::Value operand : operands) body.addArgument(operand.getType(), operand.getLoc());
  return llvm::cast<StageOp>(builder.create(state));
}

mlir::LogicalResult StageOp::verify() {
  mlir::Operation* op = *this;
  if (!op->getAttrOfType<mlir::StringAttr>("kind")) return emitError("stage: has no kind; it is text behind attn.stage");
  if (op->hasAttr("decisions") && !decisions()) return emitError("stage: decisions must be a dictionary");
  if (op->getRegion(0).empty() || body().empty() || !llvm::isa<YieldOp>(body().back())) return emitError("stage: its region does not end in attn.yield");
  if (body().getArgumentTypes() != op->getOperandTypes()) return emitError("stage: the region's arguments differ from the operands in type");
  return mlir::success();
}

mlir::LogicalResult StageOp::verifyRegions() {
  const StageRolesAnswer answer = find_roles(kind(), to_graph(*this));
  return answer.roles ? mlir::success() : emitError(llvm::StringRef(answer.problem));
}

mlir::ParseResult StageOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  mlir::StringAttr kind;
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  mlir::FunctionType type;
  if (parser.parseAttribute(kind, "kind", state.attributes)) return mlir::failure();
  const llvm::SMLoc at = parser.getCurrentLocation();
  const auto parse_pair = [&]() -> mlir::ParseResult {
    return mlir::failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                         parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, parse_pair) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), at, state.operands))
    return mlir::failure();
  for (auto [argument, argument_type] : llvm::zip(arguments, type.getInputs())) argument.type = argument_type;
  state.addTypes(type.getResults());
  return parser.parseRegion(*state.addRegion(), arguments);
}

void StageOp::print(mlir::OpAsmPrinter& printer) {
  printer << ' ' << (*this)->getAttr("kind") << " (";
  llvm::interleaveComma(llvm::zip(body().getArguments(), (*this)->getOperands()), printer, [&](const auto& pair) {
    printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
    printer << " = " << std::get<1>(pair);
  });
  printer << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"kind"});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  printer.printRegion((*this)->getRegion(0), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

YieldOp YieldOp::create(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange values) {
  mlir::OperationState state(at, getOperationName());
  state.addOperands(values);
  return llvm::cast<YieldOp>(builder.create(state));
}

mlir::LogicalResult YieldOp::verify() {
  if ((*this)->getOperandTypes() != (*this)->getParentOp()->getResultTypes())
    return emitError("yield: its operands differ from the results of the stage in type");
  return mlir::success();
}

mlir::ParseResult YieldOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;
  const llvm::SMLoc at = parser.getCurrentLocation();
  return mlir::failure(parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
                       parser.resolveOperands(operands, types, at, state.operands));
}

void YieldOp::print(mlir::OpAsmPrinter& printer) {
  printer << ' ' << (*this)->getOperands() << " : " << (*this)->getOperandTypes();
}

}  // namespace attune
