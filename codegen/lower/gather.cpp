#include <limits>

#include "codegen/lower/body.h"

namespace attune {

template <>
Lowered lower(const Gather& op, const Site& site) {
  const Halide::Expr id = Halide::cast<std::int64_t>(site.operand(1).expr);
  const Halide::Expr extent = site.body.extents().at(std::string(op.along));
  Coordinates at = site.at;
  const Halide::Expr last = Halide::cast<std::int64_t>(Halide::max(extent - 1, 0));
  at[std::string(op.along)] = Halide::unsafe_promise_clamped(Halide::cast<std::int32_t>(Halide::clamp(id, Halide::cast<std::int64_t>(0), last)), 0, extent - 1);
  const Lowered row = site.operand(0, at);
  const bool is_real = site.node.type.kind == Kind::real;
  const Lowered outside = is_real ? Lowered::real(std::numeric_limits<double>::quiet_NaN()) : Lowered::integer(0);
  return select(Lowered{id >= 0 && id < Halide::cast<std::int64_t>(extent)}, row, outside);
}

}  // namespace attune
