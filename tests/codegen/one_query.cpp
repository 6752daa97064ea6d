/// Attention of one query that has no dim of queries: kernels are those of one query, and right.
#include <catch2/catch.hpp>

#include "codegen/plan/stage_roles.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/planned.h"

namespace attune {
namespace {

/// A token's attention to a memory, twice (Sukhbaatar et al. 2015, memory networks).
struct MemoryHops {
  void operator()(Graph& g) const {
    auto [batch, heads, keys, depth] = g.dims("batch", "heads", "keys", "depth");
    const Value q = g.input("q", {batch, heads, depth});
    const Value k = g.input("k", {batch, heads, keys, depth});
    const Value v = g.input("v", {batch, heads, keys, depth});
    const Value lengths = g.input("lengths", {batch}, Kind::i64);
    Value u = q;
    for (int hop = 0; hop < 2; ++hop) u = u + matmul(softmax(mask(matmul(u, k, depth), index(keys) < lengths), keys), v, keys);
    g.output("out", u, {batch, heads, depth});
  }
};

/// What is read of a memory is a gate of features, whose scores are the result of another attention.
struct GateOfFeatures {
  void operator()(Graph& g) const {
    auto [heads, keys, depth, features, width] = g.dims("heads", "keys", "depth", "features", "width");
    const Value q = g.input("q", {heads, depth}), k = g.input("k", {heads, keys, depth}), v = g.input("v", {heads, keys, features});
    const Value read = matmul(softmax(matmul(q, k, depth), keys), v, keys);
    g.output("out", matmul(softmax(read, features), g.input("u", {heads, features, width}), features), {heads, width});
  }
};

}  // namespace

TEST_CASE("attention without a dim of queries is one stage, and right for any number of keys", "[one query]") {
  const Graph graph = build(MemoryHops{});
  const Planned planned(graph);
  CHECK(std::ranges::count_if(planned.plan.steps, [](const auto& step) { return step.kind() == OnlineSoftmaxRoles::name; }) == 2);
  CHECK(std::ranges::none_of(planned.plan.steps, [](const auto& step) { return step.kind() == RowSoftmaxRoles::name; }));
  const KernelCase kernel(graph, "memory_hops");
  for (const char* keys : {"0", "1", "5", "37", "129", "700"}) CHECK(kernel.difference(std::string("batch=2,heads=3,depth=9,keys=") + keys, 1) == "");
}

TEST_CASE("attention without a dim of queries over the result of another is right", "[one query]") {
  const Graph graph = build(GateOfFeatures{});
  const KernelCase kernel(graph, "gate_of_features");
  for (const char* keys : {"0", "1", "37", "129"}) CHECK(kernel.difference(std::string("heads=3,depth=9,features=13,width=7,keys=") + keys, 1) == "");
}

}  // namespace attune
