#include "codegen/halide/rewrites/places_before.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// Whether the places of a vector are numbers, the least of them below zero.
bool is_before(const Ramp* ramp) {
  if (ramp == nullptr) return false;
  const auto base = as_const_int(ramp->base);
  const auto stride = as_const_int(ramp->stride);
  return base && stride && std::min(*base, *base + *stride * (ramp->lanes - 1)) < 0;
}

class NamePlacesBefore final : public IRMutator {
 private:
  using IRMutator::visit;

  Expr visit(const Load* op) override {
    Expr mutated = IRMutator::visit(op);
    const auto* load = mutated.as<Load>();
    const auto* ramp = load->index.as<Ramp>();
    if (!is_before(ramp)) return mutated;
    const auto [name, index] = named(ramp);
    return Let::make(name, ramp->base, Load::make(load->type, load->name, index, load->image, load->param, load->predicate, load->alignment));
  }

  Stmt visit(const Store* op) override {
    Stmt mutated = IRMutator::visit(op);
    const auto* store = mutated.as<Store>();
    const auto* ramp = store->index.as<Ramp>();
    if (!is_before(ramp)) return mutated;
    const auto [name, index] = named(ramp);
    return LetStmt::make(name, ramp->base, Store::make(store->name, store->value, index, store->param, store->predicate, store->alignment));
  }

  static std::pair<std::string, Expr> named(const Ramp* ramp) {
    const std::string name = unique_name("place_before");
    return {name, Ramp::make(Variable::make(ramp->base.type(), name), ramp->stride, ramp->lanes)};
  }
};

}  // namespace

Stmt with_named_places_before(const Stmt& s) { return NamePlacesBefore().mutate(s); }

}  // namespace attune
