#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

template <>
Lowered lower(const WriteRows& op, const Site& site) {
  using Halide::Expr;
  const Expr start = site.operand(2).expr, count = site.values.extents().at(std::string(op.rows));
  // Positions of memory have 64 bits; what is computed of indices has 32, as extents do.
  const Halide::Type type = start.type().bits() > 32 ? Halide::Int(64) : Halide::Int(32);
  const auto wide = [&](const Expr& e) { return Halide::cast(type, e); };
  Expr row = wide(site.coordinate(op.along)) - wide(start);
  if (op.wraps) {
    const Expr capacity = Halide::max(wide(site.values.extents().at(std::string(op.along))), 1), first = row % capacity;
    row = first + Halide::max(wide(count) - 1 - first, 0) / capacity * capacity;
  }
  const Expr is_written = row >= 0 && row < wide(count);
  Coordinates at = site.at;
  at[std::string(op.rows)] =
      Halide::unsafe_promise_clamped(Halide::cast<std::int32_t>(Halide::clamp(row, wide(0), Halide::max(wide(count) - 1, 0))), 0, count - 1);
  return select(Lowered{is_written}, site.operand(1, at), site.operand(0));
}

}  // namespace attune
