/// Kernels of a softmax that is written out, and of sums over weights, against the interpreter.
#include <catch2/catch.hpp>

#include <limits>

#include "tests/codegen/score_kernel.h"
#include "tests/codegen/stage_kinds.h"

namespace attune {
namespace {

/// As a softmax is written out, its mask hiding all keys from the first queries where there are fewer keys.
struct WrittenOut {
  Value scores, greatest, weights, total;
  explicit WrittenOut(const Attention& a)
      : scores(mask(a.scores(), index(a.keys) <= index(a.queries) + extent(a.keys) - extent(a.queries))), greatest(max(scores, a.keys)), weights(exp(scores - greatest)), total(sum(weights, a.keys)) {}
};
void divided_before(Graph&, const Attention& a) {
  const WrittenOut s(a);
  a.output(s.weights / s.total, a.v);
}
void divided_behind(Graph& g, const Attention& a) {
  const WrittenOut s(a);
  g.output("out", matmul(a.v, s.weights, a.keys) / s.total, {a.batch, a.heads, a.queries, a.value_depth});
  g.output("lse", s.greatest + log(s.total), {a.batch, a.heads, a.queries});
}
void multiplied_by_reciprocal(Graph& g, const Attention& a) {
  const WrittenOut s(a);
  a.output(s.weights * (1.0 / s.total), a.v);
  g.output("lse", log(s.total) + s.greatest, {a.batch, a.heads, a.queries});
}
void of_logarithms(Graph&, const Attention& a) {
  const WrittenOut s(a);
  a.output(exp(s.scores - log_sum_exp(s.scores, a.keys)), a.v);
}
/// Zeros where all keys are hidden, as softmax has them.
void kept_from_nan(Graph& g, const Attention& a) {
  const WrittenOut s(a);
  const Value shift = select(s.greatest == -std::numeric_limits<double>::infinity(), 0.0, s.greatest), weights = exp(s.scores - shift);
  const Value total = sum(weights, a.keys);
  g.output("out", matmul(weights, a.v, a.keys) / select(total == 0.0, 1.0, total), {a.batch, a.heads, a.queries, a.value_depth});
}
/// The same, divided by 0 there.
void kept_from_nan_in_part(Graph&, const Attention& a) {
  const WrittenOut s(a);
  const Value weights = exp(s.scores - select(-std::numeric_limits<double>::infinity() == s.greatest, 0.0, s.greatest));
  a.output(weights / sum(weights, a.keys), a.v);
}
/// 0 without keys alone.
void kept_from_no_keys(Graph& g, const Attention& a) {
  const Value scores = a.scores(), weights = exp(scores - max(scores, a.keys)), total = sum(weights, a.keys);
  g.output("out", matmul(weights, a.v, a.keys) / select(total == 0.0, 1.0, total), {a.batch, a.heads, a.queries, a.value_depth});
}
/// Weights less half the mean of others.
void less_the_mean(Graph& g, const Attention& a) {
  const Value others = softmax(matmul(g.input("p", {a.batch, a.heads, a.queries, a.depth}), a.k, a.depth), a.keys);
  a.output(softmax(a.scores(), a.keys) - others * (0.5 / to_real(extent(a.keys))), a.v);
}
/// Weights of two heads each, one less the other.
void difference_of_weights(Graph& g, const Attention& a) {
  const Dim pair = g.dim("pair", 2);
  const Value q = g.input("both_q", {a.batch, a.heads, pair, a.queries, a.depth}), k = g.input("both_k", {a.batch, a.heads, pair, a.keys, a.depth});
  const Value sign = select(index(pair) == 0, 1.0, -g.input("lambda", {a.heads}));
  a.output(sum(softmax(matmul(q, k, a.depth) * 0.5, a.keys) * sign, pair), a.v);
}

void check_written_out(Tried tried) {
  std::size_t row = 0;
  for (const char* type : {"f32", "bf16"}) {
    check_kernel("a softmax that is written out, divided before the product", divided_before, tried, row++, type);
    check_kernel("a softmax that is written out, divided behind the product", divided_behind, tried, row++, type);
    check_kernel("a softmax that is written out, by the reciprocal of its total", multiplied_by_reciprocal, tried, row++, type);
    check_kernel("the logarithm of a softmax", of_logarithms, tried, row++, type);
    check_kernel("a softmax that is written out and kept from NaN", kept_from_nan, tried, row++, type);
    check_kernel("the same, in part", kept_from_nan_in_part, tried, row++, type);
    check_kernel("a difference of weights", difference_of_weights, tried, row++, type);
  }
  check_kernel("a softmax that is written out and kept from no keys", kept_from_no_keys, tried, row++);
  check_kernel("weights less half the mean of others", less_the_mean, tried, row++);
}

}  // namespace

TEST_CASE("a softmax that is written out and a sum over weights store no scores", "[scores]") {
  CHECK(kinds_of(divided_before) == std::vector<std::string>{"online_softmax", "pointwise"});
  CHECK(kinds_of(multiplied_by_reciprocal) == std::vector<std::string>{"online_softmax", "pointwise", "pointwise"});
  for (const auto make : {of_logarithms, kept_from_nan_in_part}) CHECK(kinds_of(make) == std::vector<std::string>{"online_softmax", "pointwise"});
  CHECK(kinds_of(kept_from_nan) == std::vector<std::string>{"online_softmax"});
  CHECK(kinds_of(divided_behind) == std::vector<std::string>{"online_softmax", "pointwise", "pointwise"});
  CHECK(kinds_of(difference_of_weights) == std::vector<std::string>{"online_softmax", "reduce"});
}
TEST_CASE("kernels of a softmax that is written out and of a sum over weights are right", "[scores]") { check_written_out(Tried::part); }
TEST_CASE("kernels of a softmax that is written out and of a sum over weights are right at every size of call", "[.full]") {
  check_written_out(Tried::whole);
}

}  // namespace attune
