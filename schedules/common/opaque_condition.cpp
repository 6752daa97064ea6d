#include "schedules/common/opaque_condition.h"

namespace attune {

Halide::Expr opaque_condition(const Halide::Expr& condition) {
  using Halide::Internal::Call;
  // Bounds inference does not look into calls; code generation takes this one for its second argument.
  return Call::make(Halide::Bool(), Call::return_second, {0, condition}, Call::PureIntrinsic);
}

Halide::Expr unlifted_condition(const Halide::Expr& condition) {
  using Halide::Internal::Call;
  return Call::make(Halide::Bool(), Call::return_second, {0, condition}, Call::Intrinsic);  // as one that is not pure
}

}  // namespace attune
