#include <limits>

#include "codegen/halide/lower/lowered_graph.h"
#include "codegen/halide/numbers/proof.h"

namespace attune {
namespace {

/// Whether every element of the node, wherever it is asked for, is a place of the dim: then loads along it need no check.
bool is_always_inside(const LoweredGraph& values, int node, const Halide::Expr& extent) {
  Block everywhere;
  for (const auto& [dim, size] : values.extents()) everywhere[dim] = {0, size - 1};
  const Interval<Lowered> places = values.over(node, everywhere);
  const Halide::Expr end = Halide::cast(places.high.expr.type(), extent);
  return is_proved(places.low.expr >= 0) && is_proved(places.high.expr < end);
}

}  // namespace

template <>
Lowered lower(const Gather& op, const Site& site) {
  const Halide::Expr extent = site.values.extents().at(std::string(op.along)), place = site.operand(1).expr;
  Coordinates at = site.at;
  if (is_always_inside(site.values, site.node.inputs[1], extent)) {
    at[std::string(op.along)] = Halide::unsafe_promise_clamped(Halide::cast<std::int32_t>(place), 0, extent - 1);
    return site.operand(0, at);
  }
  // Ids of memory have 64 bits; what is computed of indices has 32, as extents do.
  const Halide::Type type = place.type().bits() > 32 ? Halide::Int(64) : Halide::Int(32);
  const Halide::Expr id = Halide::cast(type, place), end = Halide::cast(type, extent), last = Halide::max(end - 1, 0);
  at[std::string(op.along)] =
      Halide::unsafe_promise_clamped(Halide::cast<std::int32_t>(Halide::clamp(id, Halide::cast(type, 0), last)), 0, extent - 1);
  const Lowered row = site.operand(0, at);
  const bool is_real = site.node.type.kind == Kind::real;
  const Lowered outside = is_real ? Lowered::real(std::numeric_limits<double>::quiet_NaN()) : Lowered::integer(0);
  return select(Lowered{id >= 0 && id < end}, row, outside);
}

}  // namespace attune
