#include "codegen/lower/body.h"

namespace attune {

template <>
Lowered lower(const Matmul& op, const Site& site) {
  const Reduction r = reduction_over(op.over, site);
  return {Halide::sum(r.domain, site.operand(0, r.at).expr * site.operand(1, r.at).expr)};
}

}  // namespace attune
