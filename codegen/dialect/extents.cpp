#include "codegen/dialect/extents.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/dialect/codec.h"
#include "codegen/dialect/import.h"
#include "dsl/extent_product.h"
#include "runtime/abi.h"

namespace attune {
namespace {

constexpr std::array<std::string_view, 6> formula_names = {"free", "fixed", "product", "quotient", "sum", "slice"};

/// Calls visit(type) for every type of a value inside the function and of its results.
void for_each_type(mlir::func::FuncOp function, llvm::function_ref<void(TensorType)> visit) {
  const auto visit_all = [&](mlir::TypeRange types) {
    for (mlir::Type type : types)
      if (const auto tensor = llvm::dyn_cast<TensorType>(type)) visit(tensor);
  };
  visit_all(function.getArgumentTypes());
  visit_all(function.getResultTypes());
  function.walk([&](mlir::Operation* op) {
    if (op == function.getOperation()) return;
    visit_all(op->getResultTypes());
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) visit_all(block.getArgumentTypes());
  });
}

mlir::DictionaryAttr encode(const Derivation& d, mlir::MLIRContext* c) {
  mlir::Builder builder(c);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("formula", Codec<Name>::encode(c, formula_names[static_cast<std::size_t>(d.formula)])),
       builder.getNamedAttr("operands", Codec<Names>::encode(c, d.operands)),
       builder.getNamedAttr("value", Codec<std::int64_t>::encode(c, d.value))});
}

/// Nothing for an attribute of another form.
std::optional<Derivation> decode(mlir::NamedAttribute attribute) {
  const auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(attribute.getValue());
  if (!fields) return std::nullopt;
  const std::optional<Name> formula = Codec<Name>::decode(fields.get("formula"));
  const std::optional<Names> operands = Codec<Names>::decode(fields.get("operands"));
  const std::optional<std::int64_t> value = Codec<std::int64_t>::decode(fields.get("value"));
  if (!formula || !operands || !value || *value < 1) return std::nullopt;
  const auto* found = std::find(formula_names.begin(), formula_names.end(), *formula);
  const Derivation d{attribute.getName().getValue(), static_cast<Formula>(found - formula_names.begin()), *operands, *value};
  switch (d.formula) {
    case Formula::fixed: return operands->empty() ? std::optional(d) : std::nullopt;
    case Formula::slice: return operands->size() == 1 && Steps::of(*value).step > 0 ? std::optional(d) : std::nullopt;
    case Formula::quotient: return operands->size() == 1 ? std::optional(d) : std::nullopt;
    case Formula::product:
    case Formula::sum: return operands->empty() ? std::nullopt : std::optional(d);
    default: return std::nullopt;
  }
}

/// What the operation says of the extents of dims that it makes.
llvm::SmallVector<Derivation> stated_by(mlir::Operation* operation) {
  llvm::SmallVector<Derivation> stated;
  const std::optional<AnyOp> op = op_of(operation);
  if (!op) return stated;
  llvm::SmallVector<Type> types;
  for (mlir::Type type : operation->getOperandTypes()) types.push_back(type_of(type));
  const std::span<const Type> operands(types.data(), types.size());
  const auto add = [&](const Derivation& d) { stated.push_back(d); };
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.derive(operands, add); }) o.derive(operands, add);
      },
      *op);
  return stated;
}

}  // namespace

KnownExtents known_extents(mlir::func::FuncOp function) {
  KnownExtents known;
  for_each_type(function, [&](TensorType type) {
    for (const TypeDim& dim : type.dims())
      if (dim.extent != 0) known.try_emplace(dim.name.str(), dim.extent);
  });
  return known;
}

std::vector<Derivation> recorded_derivations(mlir::func::FuncOp function) {
  std::vector<Derivation> result;
  if (const auto recorded = function->getAttrOfType<mlir::DictionaryAttr>(dims_attribute))
    for (const mlir::NamedAttribute& attribute : recorded)
      if (const std::optional<Derivation> d = decode(attribute)) result.push_back(*d);
  return result;
}

std::vector<Derivation> derivations_of(mlir::func::FuncOp function) {
  std::vector<Derivation> result = recorded_derivations(function);
  const std::size_t recorded_count = result.size();
  function.walk([&](mlir::Operation* operation) {
    for (const Derivation& d : stated_by(operation)) {
      const auto end_of_recorded = result.begin() + static_cast<std::ptrdiff_t>(recorded_count);
      const bool is_recorded = std::any_of(result.begin(), end_of_recorded, [&](const Derivation& r) { return r.dim == d.dim; });
      const auto stated = [&](Name dim) -> const Derivation* {
        const auto found = std::ranges::find(result, dim, &Derivation::dim);
        return found == result.end() ? nullptr : &*found;
      };
      const bool is_new = std::find(result.begin(), result.end(), d) == result.end() && !is_stated(d, stated);
      if (!is_recorded && is_new) result.push_back(d);
    }
  });
  return result;
}

void record_derivations(mlir::func::FuncOp function, const std::vector<Derivation>& derivations) {
  mlir::MLIRContext* context = function.getContext();
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (const Derivation& d : derivations)
    attributes.emplace_back(mlir::StringAttr::get(context, llvm::StringRef(d.dim)), encode(d, context));
  if (attributes.empty())
    function->removeAttr(dims_attribute);
  else
    function->setAttr(dims_attribute, mlir::DictionaryAttr::get(context, attributes));
}

std::optional<std::int64_t> evaluate(const Derivation& derivation, const KnownExtents& known) {
  if (derivation.formula == Formula::free) return std::nullopt;
  constexpr std::int64_t too_large = ATTUNE_MAX_EXTENT + 1;  // neither the sum nor the product of two such numbers overflows
  if (derivation.formula == Formula::fixed) return derivation.value;
  std::int64_t result = derivation.formula == Formula::sum ? 0 : std::min(derivation.value, too_large);
  for (Name operand : derivation.operands) {
    const auto found = known.find(operand);
    if (found == known.end()) return std::nullopt;
    const std::int64_t extent = std::min(found->second, too_large);
    if (derivation.formula == Formula::sum) result = std::min(result + extent, too_large);
    if (derivation.formula == Formula::product) result = std::min(result * extent, too_large);
    if (derivation.formula == Formula::slice) {
      const Steps steps = Steps::of(derivation.value);
      return found->second < steps.least_extent() ? std::nullopt : std::optional(steps.taken_of(found->second));
    }
    if (derivation.formula != Formula::quotient) continue;
    if (found->second % derivation.value != 0) return std::nullopt;
    result = found->second / derivation.value;
  }
  return result;
}

std::string extent_problem(mlir::func::FuncOp function) {
  KnownExtents stated;  // 0: a type leaves it open
  std::string problem;
  const auto text = [](std::int64_t extent) { return extent == 0 ? std::string("not stated") : std::to_string(extent); };
  for_each_type(function, [&](TensorType type) {
    for (const TypeDim& dim : type.dims()) {
      const auto [place, is_first] = stated.try_emplace(dim.name.str(), dim.extent);
      if (!is_first && place->second != dim.extent && problem.empty())
        problem = fmt::format("tensor: {} is {} in one type and {} in another; a dim has one extent", place->first,
                              text(place->second), text(dim.extent));
    }
  });
  if (!problem.empty()) return problem;
  const auto recorded = function->getAttrOfType<mlir::DictionaryAttr>(dims_attribute);
  if (function->hasAttr(dims_attribute) && (!recorded || recorded.size() != recorded_derivations(function).size()))
    return "graph: attn.dims is not of the form {keys = {formula = \"product\", operands = [\"tokens\"], value = 1}}";
  const KnownExtents known = known_extents(function);
  for (const Derivation& d : derivations_of(function)) {
    const auto found = known.find(d.dim);
    if (found == known.end()) continue;
    const std::optional<std::int64_t> extent = evaluate(d, known);
    const std::string sources(sentence(d.operands).view());
    if (!extent) return fmt::format("tensor: {} is {}, but it follows from {}, which do not give it", d.dim, found->second, sources);
    if (*extent == found->second) continue;
    if (d.formula == Formula::fixed) return fmt::format("tensor: {} is {}; it must be {}, as split states", d.dim, found->second, *extent);
    return fmt::format("tensor: {} is {}; it must be {}, which follows from {}", d.dim, found->second, *extent, sources);
  }
  return {};
}

}  // namespace attune
