/// Kernels of few queries of many heads that share their keys.
#include <catch2/catch.hpp>

#include <array>
#include <string>

#include "dsl/variants.h"
#include "tests/codegen/kernel_case.h"

namespace attune {
namespace {

/// Queries of heads that share keys, with all that may stand between scores and the result: each head's own bias, slope, mask and gate.
struct ManyHeads {
  void operator()(Graph& g) const {
    auto [batch, heads, queries, keys, depth, width] = g.dims("batch", "heads", "queries", "keys", "depth", "width");
    const Value q = g.input("q", {batch, heads, queries, depth}), k = g.input("k", {batch, keys, depth}), v = g.input("v", {batch, keys, width});
    Value scores = 5 * tanh(matmul(q, k, depth) * g.input("slope", {heads}) / 5) + g.input("bias", {heads, queries, keys});
    scores = mask(scores, index(keys) + g.input("first", {heads}, Kind::i64) <= index(queries) + extent(keys) - extent(queries));
    const Value weights = dropout(softmax(scores, keys), 0.25, g.input("seed", {}, Kind::i64), g.input("offset", {}, Kind::i64));
    g.output("out", matmul(weights, v, keys) * g.input("gate", {batch, queries, heads, width}), {batch, queries, heads, width});
  }
};

/// Weights without a softmax, of scores that are no product.
struct ManySigmoids {
  void operator()(Graph& g) const {
    auto [batch, heads, queries, keys, width] = g.dims("batch", "heads", "queries", "keys", "width");
    const Value scores = g.input("a", {heads, queries}) - g.input("b", {batch, keys});
    g.output("out", matmul(sigmoid(scores), g.input("v", {batch, keys, width}), keys), {batch, heads, queries, width});
  }
};

constexpr std::array extents = {"queries=1,keys=65", "queries=3,keys=133", "queries=16,keys=129", "queries=5,keys=700", "queries=2,keys=0", "queries=0,keys=100"};

void check_calls(const Graph& graph, const std::string& others, const std::string& types = "f32") {
  KernelOptions options;
  options.types = types;
  const KernelCase kernel(graph, "shared_keys", options);
  for (const char* these : extents) CHECK(kernel.difference(others + these, 1) == "");
}

}  // namespace

TEST_CASE("few queries of many heads that share keys agree with the interpreter", "[shared keys]") {
  check_calls(build(ManyHeads{}), "batch=2,heads=29,depth=9,width=21,");
  check_calls(build(ManySigmoids{}), "batch=2,heads=29,width=21,");
}

TEST_CASE("latent attention of few queries agrees with the interpreter in each storage", "[shared keys]") {
  for (const char* types : {"f32", "bf16", "f16"}) check_calls(build(Mla{.absorbed = true}), "batch=2,heads=24,depth=8,value_depth=8,latent=37,rope=6,", types);
}

}  // namespace attune
