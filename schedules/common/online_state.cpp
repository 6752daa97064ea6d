#include "schedules/common/online_state.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"

using Halide::Expr;

namespace attune {

Expr whole_power(const Expr& n) {
  const Expr exponent = Halide::cast<std::int32_t>(select(strict_less(n, static_cast<float>(least_weight + 1)), -127.f, n));
  return Halide::reinterpret<float>((exponent + 127) << 23);
}

StateMerge::StateMerge(const Expr& reference_a, const Expr& reference_b)
    : reference(max(reference_a, reference_b)), scale_a(whole_power(reference_a - reference)), scale_b(whole_power(reference_b - reference)) {}

OnlineState::OnlineState(Expr o, Expr m, Expr l) : sum(std::move(o)), reference(std::move(m)), total(std::move(l)) {}

OnlineState OnlineState::of_no_key() { return {0.f, std::numeric_limits<float>::lowest(), 0.f}; }

OnlineState merged(const OnlineState& a, const OnlineState& b) {
  const StateMerge merge(a.reference, b.reference);
  return {merge.of(a.sum, b.sum), merge.reference, merge.of(a.total, b.total)};
}

}  // namespace attune
