/// Scores of an attention stage from its queries and keys: the formulas of OnlineSoftmax
/// (codegen/halide/bodies/stage.h) that its CPU templates share.
#pragma once

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/softmax_math.h"

namespace attune {

/// Nothing happens to the product of queries and keys but the mask.
bool is_plain_product(const OnlineSoftmax& body);

/// Base 2 is folded into the query: before a softmax nothing happens to the product but the mask.
bool is_base_2(const OnlineSoftmax& body);

/// The total of a row is kept beside its sums.
bool keeps_total(const OnlineSoftmax& body);

/// The score of a key that a query does not see, or that is beyond the last one: its weight is 0, and its term of the total.
Halide::Expr hidden_score(const OnlineSoftmax& body);

/// What the total sums: of weights of a softmax these, without one what body.term makes of a score.
Halide::Expr term_of_total(const OnlineSoftmax& body, const Halide::Expr& weight);

/// The total of no key, and of two that are folded: of sums, or of maxima, NaN among them.
Halide::Expr total_of_nothing(const OnlineSoftmax& body);
Halide::Expr folded(const OnlineSoftmax& body, const Halide::Expr& a, const Halide::Expr& b);
/// That of all lanes of a row's vector.
Halide::Expr folded_lanes(const OnlineSoftmax& body, int lanes, const std::function<Halide::Expr(int lane)>& total);

/// The number of a row that is the result where there is no value: the total, or the logarithm of that of a softmax, relative to a reference in base 2.
Halide::Expr number_of_row(const OnlineSoftmax& body, const Halide::Expr& total, const Halide::Expr& reference);

/// What is stored of a sum of weights times values, which a softmax has divided already, or of the number of a row, and of the total of the weights, if that is kept.
Halide::Expr finished(const OnlineSoftmax& body, const Halide::Expr& sum, const Halide::Expr& total, const Coordinates& at);

/// The dims of the batch that keys or values have: one of each makes up what attention walks its keys for.
std::vector<std::string> dims_of_keys(const OnlineSoftmax& body);

/// The other dims of the batch and the queries: rows that share keys and values, so that a tile may have rows of several heads.
std::vector<std::string> dims_of_rows(const OnlineSoftmax& body);

/// Adds the coordinates of the contracted dims, given innermost first.
void place_over(const OnlineSoftmax& body, const Exprs& indices, Coordinates& at);

/// The query at the coordinates as products take it: in base 2 where that can be folded into it.
Halide::Expr query_of_product(const OnlineSoftmax& body, const Coordinates& at);

/// What is summed over body.over, from a query and a key at the coordinates.
Halide::Expr score_term(const OnlineSoftmax& body, const Halide::Expr& query, const Halide::Expr& key, const Coordinates& at);

/// The score before body.change where nothing is contracted; in base 2 if it is a plain product.
Halide::Expr only_term(const OnlineSoftmax& body, const Coordinates& at);

/// The score before body.change: stored, the one term where nothing is contracted, otherwise `product()`, the sum of terms.
template <class Product>
Halide::Expr raw_score(const OnlineSoftmax& body, const Coordinates& at, Product product) {
  if (body.score) return body.score.at(at);
  return body.over.empty() ? only_term(body, at) : product();
}

/// The score, before a softmax in base 2, from the one before body.change; `is_base_2` says that this one is so already.
Halide::Expr changed_score(const OnlineSoftmax& body, const Halide::Expr& raw, const Coordinates& at, bool is_base_2);

/// The key at the coordinates, which need not be there, is there (`exists`) and visible.
Halide::Expr is_seen(const OnlineSoftmax& body, const Coordinates& at, const Halide::Expr& exists);

}  // namespace attune
