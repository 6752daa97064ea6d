/// Kernels of reductions of scores that nothing sums values by, and of log_sum_exp and maxima that the weights of a matmul are made of.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tests/codegen/score_kernel.h"
#include "tests/codegen/stage_kinds.h"
#include "tools/measure/example.h"

namespace attune {
namespace {

void output_of_rows(Graph& g, const Attention& a, std::string_view name, Value x) { g.output(name, x, {a.batch, a.heads, a.queries}); }

Value causal_scores(const Attention& a) { return mask(a.scores(), index(a.keys) <= index(a.queries)); }

void logarithm(Graph& g, const Attention& a) { output_of_rows(g, a, "lse", log_sum_exp(tanh(causal_scores(a)) * 4.0, a.keys)); }
void masked_logarithm(Graph& g, const Attention& a) { output_of_rows(g, a, "lse", log_sum_exp(causal_scores(a), a.keys) * 2.0); }
void logarithm_and_maximum(Graph& g, const Attention& a) {
  const Value scores = causal_scores(a);
  output_of_rows(g, a, "lse", log_sum_exp(scores, a.keys));
  output_of_rows(g, a, "greatest", max(scores, a.keys));
}
void maximum_of_scores(Graph& g, const Attention& a) { output_of_rows(g, a, "greatest", max(a.scores(), a.keys)); }
void masked_maximum(Graph& g, const Attention& a) { output_of_rows(g, a, "greatest", max(causal_scores(a), a.keys) + 1.0); }
/// What is hidden has a number that may be the greatest.
void maximum_with_zeros(Graph& g, const Attention& a) { output_of_rows(g, a, "greatest", max(a.causal(a.scores()), a.keys)); }
void sum_of_weights(Graph& g, const Attention& a) { output_of_rows(g, a, "total", sum(a.causal(sigmoid(a.scores())), a.keys)); }
/// The greatest of keys that two tensors hold.
void maximum_of_parts(Graph& g, const Attention& a) {
  const Dim past = g.dim("past"), all = g.dim("all");
  const Value k = g.input("past_k", {a.batch, a.heads, past, a.depth});
  output_of_rows(g, a, "greatest", max(concat({{matmul(a.q, k, a.depth), past}, {a.scores(), a.keys}}, all), all));
}
/// Softpick relative to the greatest score of a row (Zuhri, Fuadi and Aji 2025).
void softpick_with_maximum(Graph& g, const Attention& a) {
  const Value scores = a.scores(), greatest = max(scores, a.keys), powers = exp(scores - greatest) - exp(-greatest);
  g.output("out", matmul(maximum(powers, 0), a.v, a.keys) / (sum(abs(powers), a.keys) + 1e-6), {a.batch, a.heads, a.queries, a.value_depth});
}
/// Weights relative to a logarithm that is a result, too.
void probabilities_of_some(Graph& g, const Attention& a) {
  const Value scores = a.scores(), logarithm = log_sum_exp(scores, a.keys);
  const Value weights = a.causal(exp(scores - logarithm));
  a.output(weights * weights, a.v);
  output_of_rows(g, a, "lse", logarithm);
}

struct NamedFormula {
  const char* name;
  void (*make)(Graph&, const Attention&);
};
constexpr NamedFormula formulas[] = {{"log_sum_exp", logarithm},
                                {"log_sum_exp of a mask", masked_logarithm},
                                {"log_sum_exp and maximum", logarithm_and_maximum},
                                {"maximum", maximum_of_scores},
                                {"maximum of a mask", masked_maximum},
                                {"maximum with zeros", maximum_with_zeros},
                                {"sum of weights", sum_of_weights},
                                {"maximum of parts", maximum_of_parts},
                                {"softpick with its maximum", softpick_with_maximum},
                                {"squares of probabilities", probabilities_of_some}};

std::vector<std::string> kinds_of_formula(void (*make)(Graph&, const Attention&)) {
  Graph g;
  make(g, Attention(g));
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return kinds_of(g);
}

void check_formulas(Tried tried) {
  std::size_t row = 0;
  for (const char* type : {"f32", "bf16"})
    for (const NamedFormula& formula : formulas) check_kernel(formula.name, formula.make, tried, row++, type);
}

/// A row that sees nothing, one with NaN, one with infinities, with every schedule.
void check_special_rows(const NamedFormula& formula) {
  Graph g;
  formula.make(g, Attention(g));
  g.finish();
  const KernelCase kernel(g, "rows");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const std::int64_t queries : {2, 9, 70})
    for (const std::int64_t keys : {3, 131, 641})
      for (const double special : {std::nan(""), infinity, -infinity}) {
        CAPTURE(formula.name, queries, keys, special);
        const Shape shape{{"batch", 1}, {"heads", 2}, {"queries", queries}, {"keys", keys}, {"depth", 1}, {"value_depth", 1}};
        Arrays inputs = random_inputs(kernel.graph(), shape, 5);
        inputs.at("k").data[static_cast<std::size_t>(keys - 1)] = special;  // the last key of the first head
        inputs.at("k").data[static_cast<std::size_t>(keys)] = special;      // the first of the second
        CHECK(kernel.difference(shape, inputs) == "");
      }
}

}  // namespace

TEST_CASE("reductions of scores alone store no scores, nor do maxima that weights are made of", "[rows]") {
  using Kinds = std::vector<std::string>;
  for (const auto make : {logarithm, masked_logarithm, logarithm_and_maximum}) CHECK(kinds_of_formula(make) == Kinds{"online_softmax"});
  for (const auto make : {maximum_of_scores, masked_maximum, maximum_with_zeros, sum_of_weights, maximum_of_parts})
    CHECK(kinds_of_formula(make) == Kinds{"weighted_sum"});
  CHECK(kinds_of_formula(softpick_with_maximum) == Kinds{"weighted_sum", "weighted_sum"});
  CHECK(kinds_of_formula(probabilities_of_some) == Kinds{"online_softmax", "weighted_sum"});
}

TEST_CASE("kernels of reductions of scores alone are right", "[rows]") { check_formulas(Tried::part); }
TEST_CASE("kernels of reductions of scores alone are right at every size of call", "[.full]") { check_formulas(Tried::whole); }

TEST_CASE("reductions of scores keep NaN and infinities", "[rows]") {
  for (const NamedFormula& formula : {formulas[1], formulas[2], formulas[4]}) check_special_rows(formula);
}

TEST_CASE("a log_sum_exp that no stage has beside its weights takes time that grows with the row alone", "[rows]") {
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns");
  g.output("y", log_sum_exp(g.input("x", {rows, columns}), columns), {rows});
  g.finish();
  CHECK(kinds_of(g) == std::vector<std::string>{"reduce", "reduce"});
  const KernelCase kernel(g, "logarithm");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const std::int64_t columns_of_row : {0, 1, 5, 37, 129}) {
    const Shape shape{{"rows", 4}, {"columns", columns_of_row}};
    Arrays inputs = random_inputs(kernel.graph(), shape, 3);
    CHECK(kernel.difference(shape, inputs) == "");
    if (columns_of_row == 0) continue;
    double row = 0;
    for (const double special : {std::nan(""), infinity, -infinity}) inputs.at("x").data[static_cast<std::size_t>(row++ * static_cast<double>(columns_of_row))] = special;
    CHECK(kernel.difference(shape, inputs) == "");
  }
}

}  // namespace attune
