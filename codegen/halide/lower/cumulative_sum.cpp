#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

template <>
Lowered walked_element(const CumulativeSum&, Kind kind, const Lowered& element) {
  return kind == Kind::real ? element : Lowered::of(Halide::cast<std::int64_t>(element.expr));
}

template <>
void add_walk(const CumulativeSum& op, Kind kind, Pointwise& stage) {
  using Halide::Expr;
  RowWalk walk;
  walk.along = op.over;
  walk.initial = {kind == Kind::real ? Expr(0.f) : Halide::cast<std::int64_t>(0)};
  walk.step = [](const RowWalk::Values& sum, const Expr& element) { return RowWalk::Values{sum[0] + element}; };
  walk.result = [is_exclusive = op.exclusive](const RowWalk::Values& sum, const Expr& element) { return is_exclusive ? sum[0] : sum[0] + element; };
  stage.walk = walk;
}

}  // namespace attune
