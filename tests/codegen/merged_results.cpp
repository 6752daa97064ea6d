/// Kernels whose results are merged into fewer dims: a stage writes them there at once, by the parts of the dims.
#include <algorithm>
#include <catch2/catch.hpp>

#include "dsl/variants/attention.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/codegen/planned.h"

namespace attune {
namespace {

using Lines = std::vector<std::string>;

/// What becomes of attention's result.
using EndOfAttention = void (*)(Graph& g, const Attention& a, const Value& result);

Graph ending(EndOfAttention end) {
  Graph g;
  const Attention a(g);
  end(g, a, matmul(softmax(a.scores(), a.keys), a.v, a.keys));
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

Value joined(Graph& g, const Attention& a, const Value& result) { return merge(result, {a.heads, a.value_depth}, g.dim("model")); }

/// As PyTorch's transpose and reshape behind attention.
void heads_in_one_dim(Graph& g, const Attention& a, const Value& result) {
  g.output("out", joined(g, a, result), {a.batch, a.queries, g.dim("model")});
}

/// Into the dim that heads are split from.
Graph split_before() {
  Graph g;
  const auto [batch, queries, keys, inner, heads, depth] = g.dims("batch", "queries", "keys", "inner", "heads", "depth");
  const auto heads_of = [&](const char* label, Dim tokens) { return split(g.input(label, {batch, tokens, inner}), inner, {{heads, 4}, depth}); };
  const Value weights = softmax(matmul(heads_of("q", queries), heads_of("k", keys), depth), keys);
  g.output("out", merge(matmul(weights, heads_of("v", keys), keys), {heads, depth}, inner), {batch, queries, inner});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

void depth_before_heads(Graph& g, const Attention& a, const Value& result) {
  g.output("out", merge(result, {a.value_depth, a.heads}, g.dim("model")), {a.queries, a.batch, g.dim("model")});
}

void all_in_two_dims(Graph& g, const Attention& a, const Value& result) {
  const Dim rows = g.dim("rows"), inner = g.dim("inner"), model = g.dim("model");
  const Value wide = merge(merge(result, {a.batch, a.heads}, rows), {a.queries, rows}, inner);
  g.output("out", merge(wide, {inner, a.value_depth}, model), {model});
}

void also_read(Graph& g, const Attention& a, const Value& result) {
  heads_in_one_dim(g, a, result);
  g.output("sums", sum(result, a.value_depth), {a.batch, a.heads, a.queries});
}

void also_read_joined(Graph& g, const Attention& a, const Value& result) {
  const Value whole = joined(g, a, result);
  g.output("out", whole, {a.batch, a.queries, g.dim("model")});
  g.output("most", max(whole, g.dim("model")), {a.batch, a.queries});
}

void also_a_result(Graph& g, const Attention& a, const Value& result) {
  heads_in_one_dim(g, a, result);
  g.output("heads_out", result, {a.batch, a.heads, a.queries, a.value_depth});
}

void changed(Graph& g, const Attention& a, const Value& result) {
  g.output("out", joined(g, a, result) + 1.0, {a.batch, a.queries, g.dim("model")});
}

const char* const merged_shapes[] = {"batch=2,heads=3,queries=5,keys=37,depth=5,value_depth=7", "batch=1,heads=1,queries=1,keys=1,depth=16,value_depth=1",
                              "batch=1,heads=2,queries=129,keys=129,depth=40,value_depth=64", "batch=0,heads=2,queries=3,keys=4,depth=5,value_depth=6"};

}  // namespace

TEST_CASE("what is merged into a result is written there by its stage", "[merge]") {
  for (const EndOfAttention end : {heads_in_one_dim, depth_before_heads, all_in_two_dims}) CHECK(text_of(ending(end)) == Lines{"online_softmax q k v -> out"});
  CHECK(text_of(ending(also_read)) == Lines{"online_softmax q k v -> out", "reduce out -> sums"});
  CHECK(text_of(ending(also_read_joined)) == Lines{"online_softmax q k v -> out", "reduce out -> most"});
  CHECK(text_of(split_before()) == Lines{"online_softmax k q v -> out"});
  const Planned planned(ending(heads_in_one_dim));
  const auto view = std::ranges::find_if(planned.plan.tensors, [](const StepTensor& tensor) { return tensor.view.has_value(); });
  REQUIRE(view != planned.plan.tensors.end());
  CHECK(view->dims == Lines{"batch", "queries", "heads", "value_depth"});
  CHECK(view->view->parts == std::vector<int>{1, 1, 2});
}

TEST_CASE("what is merged into a result is stored before where others want it otherwise", "[merge]") {
  // of f32, where the result is bf16
  CHECK(text_of(ending(also_read), {{{}, Element::f32, {{"out", Element::bf16}}}}).size() == 3);
  CHECK(text_of(ending(also_a_result)) == Lines{"online_softmax q k v -> heads_out", "pointwise heads_out -> out"});
  CHECK(text_of(ending(changed)).size() == 2);
}

TEST_CASE("kernels whose results are merged agree with the interpreter", "[merge]") {
  for (const EndOfAttention end : {heads_in_one_dim, depth_before_heads, all_in_two_dims, also_read, also_read_joined, also_a_result, changed}) {
    const Graph graph = ending(end);
    check_shapes(KernelCase(graph, "merged"), merged_shapes);
  }
  const Graph graph = ending(heads_in_one_dim);
  const char* const known[] = {"batch=2,queries=5,keys=37,depth=5", "batch=1,queries=129,keys=3,depth=16"};
  for (const char* types : {"bf16", "out=f16"}) check_shapes(KernelCase(graph, "merged", {.types = types, .set = {"heads=2", "value_depth=16"}}), known);
  const char* const split[] = {"batch=2,queries=5,keys=37,inner=20", "batch=1,queries=37,keys=129,inner=64"};
  const Graph before = split_before();
  check_shapes(KernelCase(before, "merged"), split);
}

}  // namespace attune
