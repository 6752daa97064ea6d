/// Which extents are the same in every call, by how dims follow from each other.
#pragma once

#include <numeric>

#include "dsl/derivation.h"

namespace attune {

/// numerator / denominator * the product of the extents of `of`, dims that follow from no product, quotient or number. Reduced; a dim may stand in it
/// more than once.
struct ExtentProduct {
  std::int64_t numerator = 1, denominator = 1;
  Names of;
  bool is_known = true;  ///< false: it is no such product, or one beyond 63 bits or the names that a list holds

  constexpr bool is_same_as(const ExtentProduct& other) const {
    if (!is_known || !other.is_known || of.size() != other.of.size()) return false;
    if (numerator != other.numerator || denominator != other.denominator) return false;
    const auto count = [](const Names& names, Name name) {
      int found = 0;
      for (Name n : names) found += n == name;
      return found;
    };
    for (Name name : of)
      if (count(of, name) != count(other.of, name)) return false;
    return true;
  }
  /// Multiplies it by a number and divides it by another.
  constexpr void scale(std::int64_t by, std::int64_t divisor) {
    is_known &= by > 0 && divisor > 0;
    is_known = is_known && !__builtin_mul_overflow(numerator, by, &numerator) && !__builtin_mul_overflow(denominator, divisor, &denominator);
    if (!is_known) return;
    const std::int64_t common = std::gcd(numerator, denominator);
    numerator /= common;
    denominator /= common;
  }
  constexpr void multiply(const ExtentProduct& other) {
    is_known &= other.is_known;
    scale(other.numerator, other.denominator);
    for (Name name : other.of) of.add(name);
    is_known &= !of.is_too_long();
  }
};

/// `derivation_of(Name)` points to what is stated of a dim, or to nothing. Statements that go round in circles give what is not known.
template <class DerivationOf>
class ExtentProducts {
 public:
  constexpr explicit ExtentProducts(DerivationOf derivation_of) : derivation_of_(derivation_of) {}

  /// The dim has the extent that the derivation gives it, by what is stated already.
  constexpr bool have(const Derivation& derivation) {
    const ExtentProduct stated = of(derivation.dim);
    return stated.is_same_as(of(derivation));
  }

 private:
  constexpr ExtentProduct of(Name dim) {
    const Derivation* derivation = derivation_of_(dim);
    const bool is_root = derivation == nullptr || derivation->formula == Formula::free || derivation->formula == Formula::slice ||
                         (derivation->formula == Formula::sum && derivation->operands.size() > 1);
    return is_root ? ExtentProduct{1, 1, {dim}} : of(*derivation);
  }
  constexpr ExtentProduct of(const Derivation& d) {
    ExtentProduct product;
    const bool is_product = d.formula != Formula::free && d.formula != Formula::slice && (d.formula != Formula::sum || d.operands.size() == 1);
    product.is_known = --left_ > 0 && is_product;
    for (Name operand : d.operands)
      if (product.is_known) product.multiply(of(operand));
    if (d.formula == Formula::fixed || d.formula == Formula::product) product.scale(d.value, 1);
    if (d.formula == Formula::quotient) product.scale(1, d.value);
    return product;
  }

  DerivationOf derivation_of_;
  int left_ = 1000;  // derivations to look at: more than acyclic ones of a graph need
};

/// The dim has the extent that the derivation gives it by what is stated already: `rename` back, a `merge` of what `split` made of the dim, and
/// equal numbers.
template <class DerivationOf>
constexpr bool is_stated(const Derivation& derivation, DerivationOf derivation_of) {
  return ExtentProducts<DerivationOf>(derivation_of).have(derivation);
}

}  // namespace attune
