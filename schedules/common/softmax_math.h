/// What the templates of softmax share: base 2, hidden scores, sums over lanes, and the dims that a piece has.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"

namespace attune {

using Exprs = std::vector<Halide::Expr>;

inline constexpr float log2_e = 1.4426950408889634f, ln_2 = 0.6931471805599453f;

/// Minus infinity, whose weight is 0: the score of a key that a query does not see, or that is beyond the last one. Opaque, as every literal
/// infinity must be (codegen/halide/numbers/opaque_real.h).
Halide::Expr hidden_score();

/// ln(e^maximum total), of the greatest score, or what the others are relative to, and the total of powers: minus infinity where that is 0.
Halide::Expr log_sum_exp_of(const Halide::Expr& maximum, const Halide::Expr& total);

/// All lanes of a row's vector as one number, by `combine` in a balanced tree: a vector's own reduction goes lane by lane, each waiting for the last.
Halide::Expr across_lanes(int lanes, const std::function<Halide::Expr(int lane)>& element,
                          const std::function<Halide::Expr(const Halide::Expr&, const Halide::Expr&)>& combine);

/// The value of a constant integer expression.
std::optional<int> fixed_value(const Halide::Expr& e);

/// Vars of those of the dims that `owners` has too, innermost first.
Exprs vars_of(const std::vector<std::string>& dims, const std::vector<std::string>& owners);

Exprs joined(Exprs first, const Exprs& second);

/// What a Func has at a place: one number or several.
Exprs values_of(const Halide::Func& func, const Exprs& place);

}  // namespace attune
