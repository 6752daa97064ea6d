/// !attn.tensor<batch, heads, queries, depth=64, f32>: the type of a value, with named dims, known extents and storage.
#pragma once

#include <mlir/IR/DialectImplementation.h>
#include <mlir/IR/Types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "dsl/type.h"

namespace attune {

/// How an element is stored. `real`: not chosen yet (the pass specialise chooses).
enum class Element { real, f32, bf16, f16, i32, i64, i8, u8, boolean };

inline constexpr std::array<std::string_view, 9> element_names = {"real", "f32", "bf16", "f16", "i32", "i64", "i8", "u8", "boolean"};
constexpr std::string_view name_of(Element element) { return element_names[static_cast<std::size_t>(element)]; }
/// What the language calls it: every storage of a real is a real.
Kind kind_of(Element element);
/// `reals` for a real; otherwise the element of the same name.
Element element_of(Kind kind, Element reals = Element::real);

/// The extents that are known before a kernel runs, by the name of the dim.
using KnownExtents = std::map<std::string, std::int64_t, std::less<>>;

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

  /// Refuses a dim that is named twice, a negative extent, and more dims than the language has room for.
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
