#include "codegen/dialect/tensor_type.h"

#include <algorithm>
#include <optional>

#include "runtime/abi.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(attune::TensorType)

namespace attune {
namespace {

std::optional<Element> element_named(std::string_view name) {
  const auto* found = std::ranges::find(all_elements, name, [](Element element) { return name_of(element); });
  return found == all_elements.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

TensorType TensorType::of(mlir::MLIRContext* context, const attune::Type& type, const KnownExtents& known, Element reals) {
  llvm::SmallVector<TypeDim> dims;
  for (Name name : type.dims) dims.push_back({mlir::StringAttr::get(context, llvm::StringRef(name))});
  return get(context, llvm::ArrayRef<TypeDim>(dims), Element::real).with(element_of(type.kind, reals), known);
}

TensorType TensorType::with(Element element, const KnownExtents& known) const {
  llvm::SmallVector<TypeDim> result(dims().begin(), dims().end());
  for (TypeDim& dim : result)
    if (const auto found = known.find(dim.name.getValue()); found != known.end()) dim.extent = found->second;
  return get(getContext(), llvm::ArrayRef<TypeDim>(result), element);
}

mlir::LogicalResult TensorType::verifyInvariants(llvm::function_ref<mlir::InFlightDiagnostic()> emit_error,
                                                 llvm::ArrayRef<TypeDim> dims, Element) {
  if (dims.size() > static_cast<std::size_t>(Names::capacity))
    return emit_error() << "tensor: has " << dims.size() << " dims; at most " << Names::capacity << " are possible";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].extent < 0)
      return emit_error() << "tensor: the extent of " << dims[i].name.getValue() << " is " << dims[i].extent << "; it must be positive";
    if (dims[i].extent > ATTUNE_MAX_EXTENT)
      return emit_error() << "tensor: the extent of " << dims[i].name.getValue() << " is " << dims[i].extent << "; kernels count up to "
                          << ATTUNE_MAX_EXTENT;
    for (std::size_t j = 0; j < i; ++j)
      if (dims[i].name == dims[j].name) return emit_error() << "tensor: names " << dims[i].name.getValue() << " twice";
  }
  return mlir::success();
}

mlir::Type TensorType::parse(mlir::AsmParser& parser) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::SmallVector<TypeDim> parts;
  const auto parse_part = [&]() -> mlir::ParseResult {
    llvm::StringRef name;
    TypeDim part;
    if (parser.parseKeyword(&name)) return mlir::failure();
    part.name = mlir::StringAttr::get(parser.getContext(), name);
    if (mlir::succeeded(parser.parseOptionalEqual())) {
      if (parser.parseInteger(part.extent)) return mlir::failure();
      if (part.extent < 1)
        return parser.emitError(at, "tensor: the extent of ") << name << " is " << part.extent << "; it must be positive";
    }
    parts.push_back(part);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::LessGreater, parse_part)) return {};
  const std::optional<Element> element = parts.empty() || parts.back().extent != 0 ? std::nullopt : element_named(parts.back().name.getValue());
  if (!element) {
    mlir::InFlightDiagnostic error = parser.emitError(at, "tensor: does not end in an element; the elements are ");
    for (const Element each : all_elements) error << (each == all_elements.front() ? "" : ", ") << llvm::StringRef(name_of(each));
    return {};
  }
  return parser.getChecked<TensorType>(at, parser.getContext(), llvm::ArrayRef<TypeDim>(parts).drop_back(), *element);
}

void TensorType::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  for (const TypeDim& dim : dims()) {
    printer << dim.name.getValue();
    if (dim.extent != 0) printer << '=' << dim.extent;
    printer << ", ";
  }
  printer << llvm::StringRef(name_of(element())) << '>';
}

Type type_of(mlir::Type type) {
  const auto tensor = llvm::cast<TensorType>(type);
  Type result{kind_of(tensor.element()), {}};
  for (const TypeDim& dim : tensor.dims()) result.dims.add(dim.name.getValue());
  return result;
}

}  // namespace attune
