#include "codegen/halide/lower/lowered_graph.h"
#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"

namespace attune {

/// exp(x - m) / sum exp(x - m) with a floor of m, so that a row of -inf subtracts a finite number and sums to 0.
template <>
Lowered lower(const Softmax& op, const Site& site) {
  const Reduction greatest = reduction_over({op.over}, site), total = reduction_over({op.over}, site);
  constexpr float log2_e = 1.4426950408889634f;
  const Halide::Expr m = Halide::max(Halide::maximum(greatest.domain, site.operand(0, greatest.at).expr), -1e30f);
  const auto weight = [&](const Lowered& x) { return softmax_exp2((x.expr - m) * log2_e); };
  const Halide::Expr sum = Halide::sum(total.domain, weight(site.operand(0, total.at)));
  return {Halide::select(strict_equal(sum, 0.0f), 0.0f, weight(site.operand(0)) / sum)};
}

}  // namespace attune
