#include <bit>
#include <cstdint>
#include <limits>

#include "codegen/halide/lower/lowered_graph.h"
#include "codegen/halide/numbers/real_order.h"

namespace attune {
namespace {

constexpr std::int32_t place_of_minus_infinity = std::bit_cast<std::int32_t>(-std::numeric_limits<float>::infinity()) ^ all_but_sign;

}  // namespace

template <>
Lowered lower(const ReduceSum& op, const Site& site) {
  const Reduction r = reduction_over(op.over, site);
  const Lowered x = site.operand(0, r.at);
  if (site.node.type.kind == Kind::real) return {Halide::sum(r.domain, x.expr), {}, x.may_be_special};
  return Lowered::of(Halide::sum(r.domain, Halide::cast<std::int64_t>(x.expr)));
}

/// Of reals by their places in order: Halide's maximum of reals drops NaN and begins at a literal -infinity.
template <>
Lowered lower(const ReduceMax& op, const Site& site) {
  const Reduction r = reduction_over(op.over, site);
  const Halide::Expr x = site.operand(0, r.at).expr;
  if (site.node.type.kind == Kind::i32) return Lowered::of(Halide::maximum(r.domain, Halide::cast<std::int32_t>(x)));
  if (site.node.type.kind == Kind::i64) return Lowered::of(Halide::maximum(r.domain, Halide::cast<std::int64_t>(x)));
  const Halide::Expr greatest = Halide::maximum(r.domain, place_in_order(x));
  return {real_at_place(Halide::max(greatest, place_of_minus_infinity)), {}, true};  // of nothing it is -infinity
}

}  // namespace attune
