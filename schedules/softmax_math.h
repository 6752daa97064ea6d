/// What the templates of `online_softmax` share: terms of scores, powers of two with whole exponents, and the dims that a piece has.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/stage.h"

namespace attune {

using Exprs = std::vector<Halide::Expr>;

inline constexpr float log2_e = 1.4426950408889634f;

/// Nothing happens to the product of queries and keys but the mask: base 2 can be folded into the query.
bool is_plain_product(const OnlineSoftmax& body);

/// What is summed over body.over, from a query and a key at the coordinates.
Halide::Expr score_term(const OnlineSoftmax& body, const Halide::Expr& query, const Halide::Expr& key, const Coordinates& at);

/// The score before body.change where nothing is contracted; in base 2 if it is a plain product.
Halide::Expr only_term(const OnlineSoftmax& body, const Coordinates& at);

/// Minus infinity, whose weight is 0: the score of a key that a query does not see, or that is beyond the last one. Opaque, as every literal
/// infinity must be (codegen/opaque_real.h).
Halide::Expr hidden_score();

/// 2^n for whole n <= 0, exactly 0 below -126. What comes out for NaN multiplies sums that are NaN.
Halide::Expr whole_power(const Halide::Expr& n);

/// All lanes of a row's vector as one number, by `combine` in a balanced tree: a vector's own reduction goes lane by lane, each waiting for the last.
Halide::Expr across_lanes(int lanes, const std::function<Halide::Expr(int lane)>& element,
                          const std::function<Halide::Expr(const Halide::Expr&, const Halide::Expr&)>& combine);

/// The value of a constant integer expression.
std::optional<int> fixed_value(const Halide::Expr& e);

/// Vars of those of the dims that `owners` has too, innermost first.
Exprs vars_of(const std::vector<std::string>& dims, const std::vector<std::string>& owners);

Exprs joined(Exprs first, const Exprs& second);

}  // namespace attune
