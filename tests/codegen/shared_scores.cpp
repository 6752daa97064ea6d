/// Kernels of graphs in which several stages read the same scores or weights: each has its own, and none are stored.
#include <catch2/catch.hpp>

#include "dsl/variants/attention.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/stage_kinds.h"

namespace attune {
namespace {

using Kinds = std::vector<std::string>;
using Outputs = void (*)(Graph&, const Attention&, const Value& scores);

Value attended(const Attention& a, const Value& weights) { return matmul(weights, a.v, a.keys); }
void output(Graph& g, const char* name, const Value& value) { g.output(name, value, g.node(value.id).type.dims); }

/// A window and all keys before.
void two_softmaxes(Graph& g, const Attention& a, const Value& scores) {
  const Value age = index(a.queries) - index(a.keys);
  const Value near = softmax(mask(scores, age >= 0 && age < 8), a.keys), all = softmax(mask(scores, age >= 0), a.keys);
  output(g, "out", attended(a, near) - 0.5 * attended(a, all));
}

/// Weights of two values, and of what they make themselves.
void three_values(Graph& g, const Attention& a, const Value& scores) {
  const Value weights = softmax(a.causal(scores), a.keys), other = g.input("w", {a.keys, g.dim("other")});
  output(g, "out", attended(a, weights));
  output(g, "of_other", matmul(weights, other, a.keys));
  output(g, "of_both", matmul(weights, rename(matmul(weights, other, a.keys), a.queries, a.keys), a.keys));
}

void softmax_and_sigmoid(Graph& g, const Attention& a, const Value& scores) {
  output(g, "out", attended(a, softmax(scores, a.keys)) + attended(a, sigmoid(scores)));
}

void scores_too(Graph& g, const Attention& a, const Value& scores) {
  output(g, "scores", scores);
  output(g, "out", attended(a, softmax(scores, a.keys)));
}

/// Weights that are a result, too, and another softmax of the product.
void weights_too(Graph& g, const Attention& a, const Value& scores) {
  const Value weights = softmax(a.causal(scores), a.keys);
  output(g, "weights", weights);
  output(g, "out", attended(a, weights) + attended(a, softmax(scores, a.keys)));
}

Graph graph_of(Outputs outputs) {
  Graph g;
  const Attention a(g);
  outputs(g, a, a.scores());
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

void check(Outputs outputs, const Kinds& kinds, const char* keys) {
  CHECK(kinds_of(graph_of(outputs)) == kinds);
  const KernelCase kernel(graph_of(outputs), "shared");
  CHECK(kernel.difference("batch=2,heads=2,depth=5,value_depth=6,queries=37," + std::string(keys), 1) == "");
}

}  // namespace

TEST_CASE("two softmaxes of one product store no scores", "[scores]") { check(two_softmaxes, {"online_softmax", "online_softmax"}, "keys=129"); }
TEST_CASE("weights of several values are not stored", "[scores]") { check(three_values, {"online_softmax", "online_softmax", "online_softmax"}, "keys=37"); }
TEST_CASE("a softmax and a sigmoid of one product store no scores", "[scores]") { check(softmax_and_sigmoid, {"weighted_sum", "online_softmax"}, "keys=129"); }
TEST_CASE("of scores and weights that are results no others are stored", "[scores]") {
  check(scores_too, {"gemm", "online_softmax"}, "keys=5");
  check(weights_too, {"online_softmax", "online_softmax", "gemm"}, "keys=37");
}

}  // namespace attune
