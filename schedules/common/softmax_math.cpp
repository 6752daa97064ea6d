#include "schedules/common/softmax_math.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "codegen/halide/numbers/opaque_real.h"
#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"

using Halide::Expr;

namespace attune {

Expr hidden_score() { return opaque_real(-std::numeric_limits<float>::infinity()); }

std::optional<int> fixed_value(const Expr& e) {
  const auto value = Halide::Internal::as_const_int(Halide::Internal::simplify(e));
  return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

Exprs vars_of(const std::vector<std::string>& dims, const std::vector<std::string>& owners) {
  Exprs vars;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
    if (std::ranges::find(owners, *dim) != owners.end()) vars.emplace_back(Halide::Var(*dim));
  return vars;
}

Exprs joined(Exprs first, const Exprs& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Expr log_sum_exp_of(const Expr& maximum, const Expr& total) {
  return Halide::select(strict_equal(total, 0.f), hidden_score(), maximum + vector_math::log(total));
}

Expr across_lanes(int lanes, const std::function<Expr(int lane)>& element, const std::function<Expr(const Expr&, const Expr&)>& combine) {
  std::vector<Expr> left;
  for (int lane = 0; lane < lanes; ++lane) left.push_back(element(lane));
  while (left.size() > 1) {
    const std::size_t half = (left.size() + 1) / 2;
    for (std::size_t n = 0; n + half < left.size(); ++n) left[n] = combine(left[n], left[n + half]);
    left.resize(half);
  }
  return left[0];
}

Exprs values_of(const Halide::Func& func, const Exprs& place) {
  Exprs values;
  for (int n = 0; n < func.outputs(); ++n) values.push_back(func.outputs() == 1 ? Expr(func(place)) : Expr(func(place)[n]));
  return values;
}

}  // namespace attune
