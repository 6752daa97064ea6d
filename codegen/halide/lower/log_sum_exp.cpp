#include <limits>

#include "codegen/halide/lower/lowered_graph.h"
#include "codegen/halide/numbers/opaque_real.h"
#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"

namespace attune {

/// m + ln sum exp(x - m) with a floor of m, so that a row of -inf subtracts a finite number and sums to 0.
template <>
Lowered lower(const LogSumExp& op, const Site& site) {
  const Reduction greatest = reduction_over({op.over}, site), total = reduction_over({op.over}, site);
  constexpr float log2_e = 1.4426950408889634f;
  const Halide::Expr m = Halide::max(Halide::maximum(greatest.domain, site.operand(0, greatest.at).expr), std::numeric_limits<float>::lowest());
  const Halide::Expr sum = Halide::sum(total.domain, softmax_exp2((site.operand(0, total.at).expr - m) * log2_e));
  const Halide::Expr of_nothing = opaque_real(-std::numeric_limits<float>::infinity());
  return {Halide::select(strict_equal(sum, 0.0f), of_nothing, strict_add(m, vector_math::log(sum))), {}, true};
}

}  // namespace attune
