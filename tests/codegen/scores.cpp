/// Kernels of graphs whose scores are more than one masked product, against the interpreter.
#include <catch2/catch.hpp>

#include "codegen/dialect/import.h"
#include "codegen/passes/compile.h"
#include "dsl/variants/attention.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"

namespace attune {
namespace {

/// A graph whose results, for several shapes, are the interpreter's: by codes for a part of the sizes of call.
void check_kernel(const std::string& name, void (*make)(Graph&, const Attention&), Tried tried, std::size_t row, const std::string& type = "f32") {
  Graph g;
  make(g, Attention(g));
  g.finish();
  INFO(name << ", " << type);
  REQUIRE(std::string(g.problem().view()) == "");
  KernelOptions options;
  options.types = type;
  const char* const shapes[] = {"batch=2,heads=2,depth=5,value_depth=5,queries=1,keys=1",     "batch=2,heads=2,depth=5,value_depth=5,queries=5,keys=37",
                                "batch=2,heads=2,depth=5,value_depth=5,queries=37,keys=5",    "batch=2,heads=2,depth=5,value_depth=5,queries=129,keys=129",
                                "batch=2,heads=2,depth=5,value_depth=5,queries=1,keys=129",   "batch=2,heads=2,depth=5,value_depth=5,queries=5,keys=0"};
  check_part(KernelCase(g, "scores", options), shapes, tried, row);
}

Value causal(const Attention& a, const Value& scores) { return mask(scores, index(a.queries) >= index(a.keys)); }

void check_readers(Tried tried) {
  check_kernel("log-sum-exp", [](Graph& g, const Attention& a) {
    const Value scores = causal(a, a.scores()), most = max(scores, a.keys);
    a.output(scores);
    g.output("lse", log(sum(exp(scores - most), a.keys)) + most, {a.batch, a.heads, a.queries});
  }, tried, 0);
  check_kernel("two temperatures", [](Graph& g, const Attention& a) {
    const Value scores = causal(a, a.scores());
    a.output(scores);
    g.output("sharp", matmul(softmax(scores * 2, a.keys), a.v, a.keys), {a.batch, a.heads, a.queries, a.value_depth});
  }, tried, 1);
  check_kernel("scores as an output", [](Graph& g, const Attention& a) {
    const Value scores = a.scores() * 0.5;
    a.output(causal(a, scores));
    g.output("scores", scores, {a.batch, a.heads, a.queries, a.keys});
  }, tried, 2);
}

void check_sums_of_products(Tried tried) {
  std::size_t row = 0;
  for (const char* type : {"f32", "bf16"}) {
    check_kernel("latent attention", [](Graph& g, const Attention& a) {
      const Dim rope = g.dim("rope", 3);
      const Value q = g.input("q_rope", {a.batch, a.heads, a.queries, rope}), k = g.input("k_rope", {a.batch, a.keys, rope});
      a.output(causal(a, (matmul(a.q, a.k, a.depth) + matmul(q, k, rope)) / sqrt(extent(a.depth) + extent(rope))));
    }, tried, row, type);
    check_kernel("three products, a bias, and one taken away", [](Graph& g, const Attention& a) {
      const Value p = g.input("p", {a.heads, a.keys, a.depth}), bias = g.input("bias", {a.batch, a.heads, a.queries, a.keys});
      const Value q = g.input("other_q", {a.batch, a.heads, a.queries, a.value_depth});
      a.output(bias - matmul(q, a.v, a.value_depth) * 0.5 + matmul(a.q, p, a.depth) + a.scores());
    }, tried, ++row, type);
  }
}

/// Attention with the logit of a sink, one for each head, whose weight falls on no value.
void sink_of_values(Graph& g, const Attention& a) {
  const Dim one = g.dim("one", 1), all = g.dim("all");
  const Value sink = g.input("sink", {a.heads, one}), zeros = g.input("zeros", {one, a.value_depth}) * 0;
  const Value weights = softmax(concat({{causal(a, a.scores()), a.keys}, {sink, one}}, all), all);
  g.output("out", matmul(weights, concat({{a.v, a.keys}, {zeros, one}}, all), all), {a.batch, a.heads, a.queries, a.value_depth});
}

void sink_of_weights(Graph& g, const Attention& a) {
  const Dim one = g.dim("one", 1), all = g.dim("all");
  const Value sink = g.input("sink", {a.heads, one});
  const Value weights = softmax(concat({{causal(a, a.scores()), a.keys}, {sink, one}}, all), all);
  g.output("out", matmul(gather(weights, index(a.keys), all), a.v, a.keys), {a.batch, a.heads, a.queries, a.value_depth});
}

void sink_first(Graph& g, const Attention& a) {
  const Dim one = g.dim("one"), all = g.dim("all");
  const Value sink = g.input("sink", {a.heads, one}), value = g.input("value", {one, a.value_depth});
  const Value weights = softmax(mask(concat({{sink, one}, {a.scores(), a.keys}}, all), index(all) <= index(a.queries) + 2), all);
  g.output("out", matmul(weights, concat({{value, one}, {a.v, a.keys}}, all), all), {a.batch, a.heads, a.queries, a.value_depth});
}

/// A window over the keys beside it and a mask of the ones before, each with scores of its own.
void two_parts(Graph& g, const Attention& a) {
  const Dim past = g.dim("past"), all = g.dim("all");
  const Value k = g.input("past_k", {a.batch, past, a.depth}), v = g.input("past_v", {a.batch, past, a.value_depth});
  const Value ids = g.input("ids", {past}, Kind::i32);
  const Value before = mask(scale(matmul(a.q, k, a.depth), 1 / sqrt(extent(a.depth))), index(past) < 3 || to_i64(ids) > 1);
  const Value age = index(a.queries) - index(a.keys);
  const Value weights = softmax(concat({{before, past}, {mask(a.scores() + 0.5, !(age < 0 || age > 7)), a.keys}}, all), all);
  g.output("out", matmul(weights, concat({{v, past}, {a.v, a.keys}}, all), all), {a.batch, a.heads, a.queries, a.value_depth});
}

void check_concats(Tried tried) {
  std::size_t row = 0;
  for (const char* type : {"f32", "bf16"}) {
    check_kernel("a sink with a value of zeros", sink_of_values, tried, row, type);
    check_kernel("a sink whose weight is dropped", sink_of_weights, tried, ++row, type);
  }
  check_kernel("a sink before the keys", sink_first, tried, row++);
  check_kernel("two parts", two_parts, tried, row++);
}

/// The kinds of the stages that the whole compiler makes.
std::vector<std::string> kinds_of(void (*make)(Graph&, const Attention&)) {
  Graph g;
  make(g, Attention(g));
  g.finish();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const StagedModule staged = compile_to_stages(g, "scores", "", {}, context);
  REQUIRE(staged.problem == "");
  std::vector<std::string> kinds;
  for (StageOp stage : function_of(*staged.module).getBody().front().getOps<StageOp>()) kinds.push_back(stage.kind().str());
  return kinds;
}

}  // namespace

TEST_CASE("kernels of scores with readers beside the softmax are right", "[scores]") { check_readers(Tried::part); }
TEST_CASE("kernels of sums of products as scores are right", "[scores]") { check_sums_of_products(Tried::part); }
TEST_CASE("kernels of scores laid one behind the other are right", "[scores]") { check_concats(Tried::part); }

TEST_CASE("kernels of scores that are more than one masked product are right at every size of call", "[.full]") {
  check_readers(Tried::whole);
  check_sums_of_products(Tried::whole);
  check_concats(Tried::whole);
}

TEST_CASE("scores laid one behind the other are one stage", "[scores]") {
  for (const auto make : {sink_of_values, sink_of_weights, sink_first, two_parts}) CHECK(kinds_of(make) == std::vector<std::string>{"online_softmax"});
}

}  // namespace attune
