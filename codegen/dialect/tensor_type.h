/// !attn.tensor<batch, heads, queries, depth=64, f32>: the type of a value, with named dims, known extents and storage.
#pragma once

#include <mlir/IR/DialectImplementation.h>
#include <mlir/IR/Types.h>

#include <cstdint>

#include "codegen/targets/element.h"

namespace attune {

/// A dim of a type; `extent` is 0 where it is not known before the kernel runs.
struct TypeDim {
  mlir::StringAttr name;
  std::int64_t extent = 0;
  bool operator==(const TypeDim&) const = default;
};
inline llvm::hash_code hash_value(const TypeDim& dim) {
  return llvm::hash_combine(dim.name.getAsOpaquePointer(), dim.extent);
}

/// What MLIR keeps of a TensorType, once per context.
struct TensorTypeStorage : mlir::TypeStorage {
  using KeyTy = std::pair<llvm::ArrayRef<TypeDim>, Element>;
  explicit TensorTypeStorage(KeyTy k) : key(k) {}
  bool operator==(const KeyTy& other) const { return other == key; }
  static llvm::hash_code hashKey(const KeyTy& k) {
    return llvm::hash_combine(llvm::hash_combine_range(k.first.begin(), k.first.end()), static_cast<int>(k.second));
  }
  static TensorTypeStorage* construct(mlir::TypeStorageAllocator& allocator, const KeyTy& k) {
    return new (allocator.allocate<TensorTypeStorage>()) TensorTypeStorage({allocator.copyInto(k.first), k.second});
  }
  KeyTy key;
};

/// A tensor with named dims, outermost first. A scalar is !attn.tensor<real>.
class TensorType : public mlir::Type::TypeBase<TensorType, mlir::Type, TensorTypeStorage> {
 public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "attn.tensor";

  /// The type with the extents of `known` for the dims that it names.
  static TensorType of(mlir::MLIRContext* context, const attune::Type& type, const KnownExtents& known, Element reals = Element::real);

  llvm::ArrayRef<TypeDim> dims() const { return getImpl()->key.first; }
  Element element() const { return getImpl()->key.second; }
  /// The same with another element, and with the extents of `known` for the dims that it names.
  TensorType with(Element element, const KnownExtents& known) const;

  /// Refuses a dim that is named twice, an extent that is negative or above ATTUNE_MAX_EXTENT, and more dims than the language has room for.
  static mlir::LogicalResult verifyInvariants(llvm::function_ref<mlir::InFlightDiagnostic()> emit_error,
                                              llvm::ArrayRef<TypeDim> dims, Element element);
  static mlir::Type parse(mlir::AsmParser& parser);
  void print(mlir::AsmPrinter& printer) const;
};

/// The language's type of a value: its kind and the names of its dims, which live as long as the context.
/// `type` is a TensorType.
Type type_of(mlir::Type type);

}  // namespace attune

MLIR_DECLARE_EXPLICIT_TYPE_ID(attune::TensorType)
