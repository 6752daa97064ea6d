#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

template <>
Lowered lower(const Matmul& op, const Site& site) {
  const Reduction r = reduction_over(op.over, site);
  const Lowered term = site.operand(0, r.at) * site.operand(1, r.at);
  return {Halide::sum(r.domain, term.expr), {}, term.may_be_special};
}

}  // namespace attune
