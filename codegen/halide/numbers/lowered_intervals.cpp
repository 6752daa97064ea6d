#include "codegen/halide/numbers/lowered.h"
#include "codegen/halide/numbers/proof.h"

using Halide::Expr;
using Halide::Internal::is_const_one;

namespace attune {
namespace {

using namespace ranges;

bool is_constant(const Lowered& x) { return x.range.is_single(); }
/// An end as far as 64 bits go, or as the negation of that.
bool is_unbounded(const Lowered& end) { return is_constant(end) && (end.range.low <= least + 1 || end.range.low == greatest); }

/// The number, which Halide does not see.
Lowered hidden_end(std::int64_t end) {
  using Halide::Internal::Call;
  const Expr number = Lowered::integer(end).expr;
  return {Call::make(number.type(), Call::return_second, {0, number}, Call::PureIntrinsic), {least, greatest}};
}

/// Whether the end is unbounded, where it is a number that a kernel finds: a choice of an end that is known and of one that is not.
Lowered may_be_unbounded(const Lowered& end) {
  const bool has_low = end.range.low <= least + 1, has_high = end.range.high == greatest;
  if (is_constant(end) || !(has_low || has_high)) return Lowered::boolean(is_unbounded(end));
  const Lowered is_low = has_low ? end <= hidden_end(least + 1) : Lowered::boolean(false);
  return has_high ? is_low || end >= hidden_end(greatest) : is_low;
}

/// What is known of integers, or that nothing is; either end may be.
Interval<Lowered> unless_unbounded(const Lowered& is_low, const Lowered& is_high, const Interval<Lowered>& known) {
  const auto end = [](const Lowered& is_unknown, std::int64_t unbounded, const Lowered& otherwise) {
    return is_const_one(is_unknown.expr) ? Lowered::integer(unbounded) : select(is_unknown, hidden_end(unbounded), otherwise);
  };
  return {end(is_low, least + 1, known.low), end(is_high, greatest, known.high)};
}

}  // namespace

Lowered constant_like(const Lowered& x, double value) {
  if (x.is_real()) return Lowered::bound(value);
  return x.is_boolean() ? Lowered::boolean(value != 0) : Lowered::integer(static_cast<std::int64_t>(value));
}

Interval<Lowered> unbounded_integers() { return {hidden_end(least + 1), hidden_end(greatest)}; }

bool is_certain(const Lowered& condition) { return is_const_one(condition.expr); }

double function_error(const Lowered&) { return 0x1p-20; }

Interval<Lowered> after_sum(const Interval<Lowered>& sum, const Interval<Lowered>& a, const Interval<Lowered>& b) {
  if (sum.low.is_integer())
    return unless_unbounded(may_be_unbounded(a.low) || may_be_unbounded(b.low), may_be_unbounded(a.high) || may_be_unbounded(b.high), sum);
  const Lowered zero = Lowered::real(0), largest = maximum(maximum(a.high, -a.low), maximum(b.high, -b.low));
  const Lowered error = largest * Lowered::real(function_error(largest));
  const Lowered low = sum.low - error, high = sum.high + error;  // but a sum of numbers of one sign has that sign
  return {select(a.low >= zero && b.low >= zero, maximum(low, zero), low),
          select(a.high <= zero && b.high <= zero, minimum(high, zero), high)};
}

Interval<Lowered> after_product(const Interval<Lowered>& product, const Interval<Lowered>& a, const Interval<Lowered>& b) {
  if (product.low.is_real()) return detail::after_function(product);
  const bool is_known = is_constant(product.low) && is_constant(product.high);  // constants have been multiplied without wrapping
  if (is_known) return product;
  const Lowered is_unknown = may_be_unbounded(a.low) || may_be_unbounded(a.high) || may_be_unbounded(b.low) || may_be_unbounded(b.high);
  return unless_unbounded(is_unknown, is_unknown, product);
}

Lowered corner(const Lowered& a, const Lowered& b) { return a.is_real() ? detail::corner<Lowered>(a, b) : a * b; }

// An unknown end, which is NaN, converts to the least number; as the upper end it must become the largest.
Interval<Lowered> to_i64(const Interval<Lowered>& x) { return {to_i64(x.low), x.high.is_real() ? -to_i64(-x.high) : to_i64(x.high)}; }

Expr block_condition(const Lowered& truth) {
  struct Reals : Halide::Internal::IRGraphVisitor {
    bool found = false;
    using IRGraphVisitor::include;
    void include(const Expr& e) override {
      found = found || e.type().is_float();
      IRGraphVisitor::include(e);
    }
  } reals;
  reals.include(truth.expr);
  // Intervals share their operands, those of reals most: Halide walks through what is shared again and again.
  return reals.found ? Halide::strict_float(Halide::Internal::common_subexpression_elimination(truth.expr)) : with_much_named(truth.expr);
}

}  // namespace attune
