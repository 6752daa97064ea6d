/// The MLIR dialect `attn`, derived from AnyOp: attn.<name> for every operation of the language, and the frame around them.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

#include "codegen/dialect/fields.h"
#include "codegen/dialect/tensor_type.h"
#include "dsl/graph.h"

namespace attune {

/// Attributes of a function that holds a graph: an argument's name, the variant's parameters, formulas of dims, what operands of products may be rounded to.
inline constexpr llvm::StringLiteral name_attribute = "attn.name", parameters_attribute = "attn.parameters", dims_attribute = "attn.dims", products_attribute = "attn.products";

template <class Definition>
class GraphOp;

/// What all operations of the dialect do in the same way.
namespace detail {
using Effects = llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;
mlir::ParseResult parse_operation(mlir::OpAsmParser& parser, mlir::OperationState& state);
void print_operation(mlir::Operation* op, mlir::OpAsmPrinter& printer);
/// The fields are those of `definition`, and the result is what its rule gives for the operands.
mlir::LogicalResult verify_operation(mlir::Operation* op, const AnyOp& definition, llvm::ArrayRef<llvm::StringRef> fields);
/// The value where all operands are constants, or the operand that the result always equals; defined in codegen/dialect/fold.cpp.
mlir::OpFoldResult fold_operation(mlir::Operation* op, const AnyOp& definition, llvm::ArrayRef<mlir::Attribute> operands);

template <class Op, template <class> class... Traits>
using Pure = mlir::Op<Op, mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors, mlir::MemoryEffectOpInterface::Trait, Traits...>;
template <class Definition>
using GraphOpBase = std::conditional_t<
    std::is_same_v<Definition, Constant>,
    Pure<GraphOp<Definition>, mlir::OpTrait::OneResult, mlir::OpTrait::ZeroOperands, mlir::OpTrait::ConstantLike>,
    Pure<GraphOp<Definition>, mlir::OpTrait::OneResult, mlir::OpTrait::VariadicOperands>>;
}  // namespace detail

/// The MLIR operation attn.<name> of an operation of the language: its fields are attributes, its rule is the verifier.
template <class Definition>
class GraphOp : public detail::GraphOpBase<Definition> {
 public:
  using Base = detail::GraphOpBase<Definition>;
  using Base::Base;

  static llvm::StringRef getOperationName() {
    static const std::string name = "attn." + std::string(Definition::name);
    return name;
  }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() {
    static const auto names = std::apply(
        [](const auto&... f) { return std::array<llvm::StringRef, sizeof...(f)>{llvm::StringRef(f.name)...}; }, Definition::fields);
    return names;
  }

  /// The operation of the language, with its fields. The verifier has seen that they are there.
  Definition definition() {
    Definition d;
    decode_fields((*this)->getAttrDictionary(), d);
    return d;
  }

  mlir::LogicalResult verify() {
    Definition d;
    if (const std::string problem = decode_fields((*this)->getAttrDictionary(), d); !problem.empty())
      return (*this)->emitError(llvm::StringRef(Definition::name)) << ": " << problem;
    return detail::verify_operation(*this, d, getAttributeNames());
  }
  mlir::OpFoldResult fold(llvm::ArrayRef<mlir::Attribute> operands) {
    return detail::fold_operation(*this, definition(), operands);
  }
  void getEffects(detail::Effects&) {}
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
    return detail::parse_operation(parser, state);
  }
  void print(mlir::OpAsmPrinter& printer) { detail::print_operation(*this, printer); }
};

/// The end of a function that holds a graph: the results, their names, and the order of their dims in memory.
///   attn.return %0, %1 {names = ["out", "lse"], dims = [["batch", "queries", "depth"], ["batch", "queries"]]} : types
/// The function's result types have the dims in that order, and the storage.
class ReturnOp : public detail::Pure<ReturnOp, mlir::OpTrait::ZeroResults, mlir::OpTrait::VariadicOperands,
                                     mlir::OpTrait::HasParent<mlir::func::FuncOp>::Impl, mlir::OpTrait::IsTerminator> {
 public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "attn.return"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames();
  static ReturnOp create(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange values, llvm::ArrayRef<Name> names,
                         llvm::ArrayRef<Names> dims);
  Name result_name(unsigned result);
  Names result_dims(unsigned result);
  /// The function as a whole: named arguments, results that fit, one extent for each dim.
  mlir::LogicalResult verify();
  void getEffects(detail::Effects&) {}
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

/// What is computed together: the region holds the same operations as the function, and sees only its arguments.
///   %r = attn.stage "online_softmax" (%a = %q, %b = %k) {decisions = {...}} : (types) -> (types) { ... attn.yield %x : type }
class StageOp
    : public mlir::Op<StageOp, mlir::OpTrait::VariadicResults, mlir::OpTrait::VariadicOperands, mlir::OpTrait::OneRegion,
                      mlir::OpTrait::ZeroSuccessors, mlir::OpTrait::SingleBlock, mlir::OpTrait::IsIsolatedFromAbove,
                      mlir::OpTrait::HasRecursiveMemoryEffects> {
 public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "attn.stage"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames();
  /// With a body that has the arguments and no operation yet. `decisions` may be null.
  static StageOp create(mlir::OpBuilder& builder, mlir::Location at, llvm::StringRef kind, mlir::ValueRange operands,
                        mlir::TypeRange results, mlir::DictionaryAttr decisions);
  llvm::StringRef kind() { return (*this)->getAttrOfType<mlir::StringAttr>("kind").getValue(); }
  /// What the stage former decided; null where it said nothing.
  mlir::DictionaryAttr decisions() { return (*this)->getAttrOfType<mlir::DictionaryAttr>("decisions"); }
  mlir::Block& body() { return (*this)->getRegion(0).front(); }
  mlir::LogicalResult verify();
  /// The kind is one of codegen/plan/stage_roles.h, and the body holds its roles.
  mlir::LogicalResult verifyRegions();
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

/// The end of a stage: its results.
class YieldOp : public detail::Pure<YieldOp, mlir::OpTrait::ZeroResults, mlir::OpTrait::VariadicOperands,
                                    mlir::OpTrait::HasParent<StageOp>::Impl, mlir::OpTrait::IsTerminator> {
 public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "attn.yield"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static YieldOp create(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange values);
  mlir::LogicalResult verify();
  void getEffects(detail::Effects&) {}
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

class AttnDialect : public mlir::Dialect {
 public:
  explicit AttnDialect(mlir::MLIRContext* context);
  static llvm::StringRef getDialectNamespace() { return "attn"; }
  mlir::Type parseType(mlir::DialectAsmParser& parser) const override;
  void printType(mlir::Type type, mlir::DialectAsmPrinter& printer) const override;
  mlir::Operation* materializeConstant(mlir::OpBuilder& builder, mlir::Attribute value, mlir::Type type, mlir::Location at) override;
};

}  // namespace attune

MLIR_DECLARE_EXPLICIT_TYPE_ID(attune::AttnDialect)
