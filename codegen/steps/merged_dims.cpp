#include "codegen/steps/merged_dims.h"

#include <algorithm>

#include "codegen/dialect/import.h"

namespace attune {
namespace {

const Derivation& derivation_of(std::span<const DimInfo> known, std::string_view dim) {
  return std::ranges::find(known, dim, [](const DimInfo& info) { return std::string_view(info.name()); })->derivation;
}

bool is_product_of(std::span<const DimInfo> known, Name dim, Names parts) {
  const Derivation& d = derivation_of(known, dim);
  return d.formula == Formula::product && d.value == 1 && d.operands == parts;
}

/// A quotient of the dim, and fixed ones whose product is what it is divided by.
bool is_split_into(std::span<const DimInfo> known, Name dim, Names parts) {
  std::int64_t product = 1, divisor = 0;
  for (const Name part : parts) {
    const Derivation& d = derivation_of(known, part);
    if (d.formula == Formula::fixed && d.value <= Split::max_stated) product = std::min(product * d.value, Split::max_stated * Split::max_stated);
    else if (divisor == 0 && d.formula == Formula::quotient && d.operands[0] == dim) divisor = d.value;
    else return false;
  }
  return product == divisor;
}

}  // namespace

std::vector<Merge> merges_of(StageOp stage) {
  std::vector<Merge> merges;
  if (stage->getNumOperands() != 1 || stage->getNumResults() != 1) return {};
  mlir::Value value = stage.body().getTerminator()->getOperand(0);
  while (mlir::Operation* op = value.getDefiningOp()) {
    const std::optional<AnyOp> definition = op_of(op);
    const Merge* merge = definition ? std::get_if<Merge>(&*definition) : nullptr;
    if (merge == nullptr) return {};
    merges.push_back(*merge);
    value = op->getOperand(0);
  }
  return merges;
}

std::optional<PartsOfDims> taken_apart(const std::vector<std::string>& dims, const std::vector<Merge>& merges, std::span<const DimInfo> known) {
  std::vector<std::vector<std::string>> parts;
  for (const std::string& dim : dims) parts.push_back({dim});
  for (const Merge& merge : merges) {
    const auto of = std::ranges::find_if(parts, [&](const auto& some) { return std::ranges::find(some, merge.into) != some.end(); });
    const bool is_first = of->size() == 1;  // others are factors of a product
    if (!is_first && derivation_of(known, dims[static_cast<std::size_t>(of - parts.begin())]).formula != Formula::product) return std::nullopt;
    if (!is_product_of(known, merge.into, merge.from) && !(is_first && is_split_into(known, merge.into, merge.from))) return std::nullopt;
    const auto place = of->erase(std::ranges::find(*of, merge.into));
    std::vector<std::string> from;
    for (const Name part : merge.from) from.emplace_back(part);
    of->insert(place, from.begin(), from.end());
  }
  PartsOfDims apart;
  for (const std::vector<std::string>& some : parts) {
    apart.dims.insert(apart.dims.end(), some.begin(), some.end());
    apart.counts.push_back(static_cast<int>(some.size()));
  }
  return apart;
}

}  // namespace attune
