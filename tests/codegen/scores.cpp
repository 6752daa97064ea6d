/// Kernels of graphs whose scores are more than one masked product, against the interpreter.
#include <catch2/catch.hpp>

#include "dsl/variants/attention.h"
#include "tests/codegen/kernel_case.h"

namespace attune {
namespace {

/// A graph whose results, for several shapes, are the interpreter's.
void check_kernel(const std::string& name, void (*make)(Graph&, const Attention&), const std::string& type = "f32") {
  Graph g;
  make(g, Attention(g));
  g.finish();
  INFO(name << ", " << type);
  REQUIRE(std::string(g.problem().view()) == "");
  KernelOptions options;
  options.types = type;
  const KernelCase kernel(g, "scores", options);
  std::uint64_t seed = 1;
  for (const char* shape : {"queries=1,keys=1", "queries=5,keys=37", "queries=37,keys=5", "queries=129,keys=129", "queries=1,keys=129"})
    CHECK(kernel.difference("batch=2,heads=2,depth=5,value_depth=5," + std::string(shape), seed++) == "");
}

Value causal(const Attention& a, const Value& scores) { return mask(scores, index(a.queries) >= index(a.keys)); }

}  // namespace

TEST_CASE("kernels of scores with readers beside the softmax are right", "[scores]") {
  check_kernel("log-sum-exp", [](Graph& g, const Attention& a) {
    const Value scores = causal(a, a.scores()), most = max(scores, a.keys);
    a.output(scores);
    g.output("lse", log(sum(exp(scores - most), a.keys)) + most, {a.batch, a.heads, a.queries});
  });
  check_kernel("two temperatures", [](Graph& g, const Attention& a) {
    const Value scores = causal(a, a.scores());
    a.output(scores);
    g.output("sharp", matmul(softmax(scores * 2, a.keys), a.v, a.keys), {a.batch, a.heads, a.queries, a.value_depth});
  });
  check_kernel("scores as an output", [](Graph& g, const Attention& a) {
    const Value scores = a.scores() * 0.5;
    a.output(causal(a, scores));
    g.output("scores", scores, {a.batch, a.heads, a.queries, a.keys});
  });
}

TEST_CASE("kernels of sums of products as scores are right", "[scores]") {
  for (const char* type : {"f32", "bf16"}) {
    check_kernel("latent attention", [](Graph& g, const Attention& a) {
      const Dim rope = g.dim("rope", 3);
      const Value q = g.input("q_rope", {a.batch, a.heads, a.queries, rope}), k = g.input("k_rope", {a.batch, a.keys, rope});
      a.output(causal(a, (matmul(a.q, a.k, a.depth) + matmul(q, k, rope)) / sqrt(extent(a.depth) + extent(rope))));
    }, type);
    check_kernel("three products, a bias, and one taken away", [](Graph& g, const Attention& a) {
      const Value p = g.input("p", {a.heads, a.keys, a.depth}), bias = g.input("bias", {a.batch, a.heads, a.queries, a.keys});
      const Value q = g.input("other_q", {a.batch, a.heads, a.queries, a.value_depth});
      a.output(bias - matmul(q, a.v, a.value_depth) * 0.5 + matmul(a.q, p, a.depth) + a.scores());
    }, type);
  }
}

}  // namespace attune
