#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

template <>
Lowered walked_element(const CumulativeSum&, Kind kind, const Lowered& element) {
  return kind == Kind::real ? element : Lowered::of(Halide::cast<std::int64_t>(element.expr));
}

template <>
RowWalk walk_of(const CumulativeSum& op, Kind kind) {
  using Halide::Expr;
  RowWalk walk;
  walk.along = op.over;
  walk.is_running = true;
  walk.initial = {kind == Kind::real ? Expr(0.f) : Halide::cast<std::int64_t>(0)};
  walk.step = [](const RowWalk::Values& sum, const Expr& element, const Expr&, const Expr&) { return RowWalk::Values{sum[0] + element}; };
  walk.result = [is_exclusive = op.exclusive](const RowWalk::Values& sum, const Expr& element, const Expr&) {
    return is_exclusive ? sum[0] : sum[0] + element;
  };
  return walk;
}

}  // namespace attune
