/// Kernels of gradients: what dsl/gradients.h makes of attention and of layers is computed as the interpreter does, and attention's store no pairs.
#include "dsl/gradients.h"

#include <catch2/catch.hpp>

#include "dsl/variants/attention.h"
#include "dsl/variants/attention_gradients.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/codegen/planned.h"

namespace attune {
namespace {

/// Gradients of the value by each of these, as results; the value's own is one more input.
template <class... Values>
void output_gradients(Graph& g, Value of, Values... by) {
  static constexpr std::array<std::string_view, 4> names = {"d_0", "d_1", "d_2", "d_3"};
  const Value seed = g.input("d_out", dims_of(of), Kind::real);
  const std::array<Value, sizeof...(by)> values{by...}, found = gradients(of, seed, by...);
  for (std::size_t i = 0; i < found.size(); ++i) g.output(names[i], found[i], dims_of(values[i]));
}

/// Grouped heads, a cap and a bias of the scores, and keys up to each length.
void changed_scores(Graph& g) {
  auto [batch, shared, group, queries, keys, depth] = g.dims("batch", "shared", "group", "queries", "keys", "depth");
  const Value q = g.input("q", {batch, shared, group, queries, depth}), k = g.input("k", {batch, shared, keys, depth});
  const Value v = g.input("v", {batch, shared, keys, depth}), bias = g.input("bias", {shared, group, queries, keys});
  const Value capped = 5 * tanh(matmul(q, k, depth) * 0.2) + bias;
  const Value weights = softmax(mask(capped, index(keys) < g.input("lengths", {batch}, Kind::i64)), keys);
  output_gradients(g, matmul(weights, v, keys), q, k, v, bias);
}
/// A layer: a norm, projections by head, rotary embedding, attention, and the projection of merged heads.
void layer(Graph& g) {
  auto [tokens, model, heads, depth, keys] = g.dims("tokens", "model", "heads", "depth", "keys");
  const Dim pairs = g.dim("pairs", 2), merged = g.dim("merged"), width = g.dim("width");
  const Value x = g.input("x", {tokens, model}), gain = g.input("gain", {model});
  const Value wq = g.input("wq", {heads, depth, model}), wo = g.input("wo", {width, merged});
  const Value normed = rms_norm(x, gain, model);
  const Value angles = rotary_angle(index(tokens), rotary_steps(index(pairs), 10000, 4));
  const Value q = rotary_embedding(matmul(normed, wq, model), angles, depth, pairs, RotaryPairs::half_split), k = rename(q, tokens, keys);
  const Value weights = softmax(mask(matmul(q, k, depth) * 0.5, index(keys) <= index(tokens)), keys);
  const Value out = matmul(weights, k, keys);
  output_gradients(g, matmul(merge(out, {heads, depth}, merged), wo, merged), x, gain, wq, wo);
}
/// Weights without a softmax, of which some are dropped.
void dropped(Graph& g) {
  const Attention a(g);
  const Value seed = g.input("seed", {}, Kind::i64);
  output_gradients(g, matmul(dropout(a.causal(sigmoid(a.scores())), 0.25, seed, seed), a.v, a.keys), a.q, a.k, a.v);
}
void hidden_layer(Graph& g) {
  auto [tokens, model, hidden] = g.dims("tokens", "model", "hidden");
  const Value x = g.input("x", {tokens, model}), up = g.input("up", {hidden, model}), down = g.input("down", {model, hidden});
  const Value out = linear(gelu(linear(x, up, g.input("b", {hidden}), model)), down, hidden);
  output_gradients(g, layer_norm(out, g.input("w", {model}), model), x, up, down);
}

struct Shaped {
  const char* name;
  void (*make)(Graph&);
  std::array<const char*, 3> shapes;
};

}  // namespace

TEST_CASE("kernels of gradients agree with the interpreter", "[gradients]") {
  const Shaped trials[] = {
      {"changed_scores", changed_scores,
       {"batch=2,shared=2,group=3,queries=5,keys=37,depth=5", "batch=1,shared=1,group=2,queries=129,keys=37,depth=16", "batch=2,shared=1,group=1,queries=1,keys=1,depth=3"}},
      {"layer", layer, {"tokens=5,model=12,heads=3,depth=4,width=12", "tokens=37,model=8,heads=2,depth=8,width=8", "tokens=1,model=4,heads=1,depth=4,width=4"}},
      {"dropped", dropped,
       {"batch=1,heads=2,queries=37,keys=37,depth=8,value_depth=5", "batch=2,heads=1,queries=5,keys=129,depth=5,value_depth=16", "batch=1,heads=1,queries=0,keys=3,depth=2,value_depth=2"}},
      {"hidden_layer", hidden_layer, {"tokens=37,model=20,hidden=33", "tokens=129,model=16,hidden=64", "tokens=1,model=5,hidden=3"}}};
  for (const Shaped& tried : trials) {
    INFO(tried.name);
    Graph graph;
    tried.make(graph);
    graph.finish();
    REQUIRE(std::string(graph.problem().view()) == "");
    check_shapes(KernelCase(graph, tried.name), tried.shapes);
  }
}

TEST_CASE("gradients of attention are swept", "[gradients]") {
  const Graph graph = build(AttentionGradients{true});
  const KernelSteps plan = Planned(graph).plan;
  REQUIRE(plan.sweeps.size() == 1);
  CHECK(plan.sweeps[0].count == plan.steps.size());
  CHECK(plan.sweeps[0].dims.back().whole == "queries");
}

}  // namespace attune
