#include "schedules/common/opaque_condition.h"

namespace attune {
namespace {

/// Bounds inference does not look into calls; code generation takes this one for its second argument.
Halide::Expr opaque(const Halide::Expr& value) {
  using Halide::Internal::Call;
  return Call::make(value.type(), Call::return_second, {0, value}, Call::PureIntrinsic);
}

}  // namespace

Halide::Expr opaque_condition(const Halide::Expr& condition) { return opaque(condition); }

Halide::Expr opaque_index(const Halide::Expr& index) { return opaque(index); }

Halide::Expr unlifted_condition(const Halide::Expr& condition) {
  using Halide::Internal::Call;
  return Call::make(Halide::Bool(), Call::return_second, {0, condition}, Call::Intrinsic);  // as one that is not pure
}

}  // namespace attune
