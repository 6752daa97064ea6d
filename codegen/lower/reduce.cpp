#include <limits>

#include "codegen/lower/body.h"
#include "codegen/strict.h"

namespace attune {

template <>
Lowered lower(const ReduceSum& op, const Site& site) {
  const Reduction r = reduction_over(op.over, site);
  const Halide::Expr x = site.operand(0, r.at).expr;
  if (site.node.type.kind == Kind::real) return {Halide::sum(r.domain, x)};
  return Lowered::of(Halide::sum(r.domain, Halide::cast<std::int64_t>(x)));
}

/// Halide's maximum drops NaN: NaNs are counted beside it.
template <>
Lowered lower(const ReduceMax& op, const Site& site) {
  const Reduction r = reduction_over(op.over, site);
  const Halide::Expr x = site.operand(0, r.at).expr;
  if (site.node.type.kind == Kind::i32) return Lowered::of(Halide::maximum(r.domain, Halide::cast<std::int32_t>(x)));
  if (site.node.type.kind == Kind::i64) return Lowered::of(Halide::maximum(r.domain, Halide::cast<std::int64_t>(x)));
  const Reduction again = reduction_over(op.over, site);
  const Halide::Expr y = site.operand(0, again.at).expr;
  const Halide::Expr nans = Halide::sum(again.domain, Halide::select(strict_equal(y, y), 0, 1));
  return {Halide::select(nans > 0, std::numeric_limits<float>::quiet_NaN(), Halide::maximum(r.domain, x))};
}

}  // namespace attune
