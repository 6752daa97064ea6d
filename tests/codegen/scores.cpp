/// Kernels of graphs whose scores are more than one masked product, against the interpreter.
#include <catch2/catch.hpp>

#include <cmath>

#include "dsl/variants/attention.h"
#include "tests/codegen/device_problem.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/quick_opencl.h"
#include "tests/codegen/planned.h"
#include "tests/codegen/score_kernel.h"
#include "tests/codegen/small_tiles.h"
#include "tests/codegen/stage_kinds.h"
#include "tests/skip.h"

namespace attune {
namespace {

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

}  // namespace

TEST_CASE("kernels of scores with readers beside the softmax are right", "[scores]") { check_readers(Tried::part); }
TEST_CASE("kernels of sums of products as scores are right", "[scores]") { check_sums_of_products(Tried::part); }
TEST_CASE("kernels of scores laid one behind the other are right", "[scores]") { check_concats(Tried::part); }

TEST_CASE("kernels of scores that are more than one masked product are right at every size of call", "[.full]") {
  check_readers(Tried::whole);
  check_sums_of_products(Tried::whole);
  check_concats(Tried::whole);
}

/// Places in the table are integers that a logarithm is rounded to, as T5 finds its buckets.
TEST_CASE("a bias by buckets of logarithms is right at every size of call", "[scores]") {
  Graph g;
  const Attention a(g);
  const Dim buckets = g.dim("buckets", 16);
  const Value distance = abs(index(a.keys) - index(a.queries)), far = minimum(8 + to_i64(log(to_real(distance) + 0.5)), 15);
  const Value bias = gather(g.input("table", {a.heads, buckets}), select(distance < 8, distance, far), buckets);
  g.output("out", matmul(softmax(a.scores() + bias, a.keys), a.v, a.keys), {a.batch, a.heads, a.queries, a.value_depth});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  const KernelCase kernel(g, "scores");
  for (const char* queries_and_keys : {"queries=1,keys=1", "queries=5,keys=37", "queries=1,keys=300", "queries=13,keys=129", "queries=129,keys=37"})
    CHECK(kernel.difference(std::string("batch=1,heads=2,depth=5,value_depth=7,") + queries_and_keys, 1) == "");
}

TEST_CASE("few queries read keys that are two tensors side by side one after the other", "[scores]") {
  const std::pair<int, int> widths[] = {{48, 32}, {16, 37}, {5, 64}};  // the second begins with a vector, or within one
  for (const auto& [latent, rope] : widths) {
    const KernelCase kernel("mla", {.settings = {"absorbed=true"}, .set = {"latent=" + std::to_string(latent) + ",rope=" + std::to_string(rope)}});
    for (const char* shape : {"batch=2,heads=5,queries=1,keys=129", "batch=1,heads=1,queries=3,keys=300"})
      CHECK(kernel.difference(std::string(shape) + ",depth=5,value_depth=7", 1) == "");
  }
}

TEST_CASE("scores laid one behind the other are one stage", "[scores]") {
  for (const auto make : {sink_of_values, sink_of_weights, sink_first, two_parts}) CHECK(kinds_of(make) == std::vector<std::string>{"online_softmax"});
}

namespace {

/// Softpick (Zuhri et al. 2025) of scores whose exponentials an f32 holds: max(e^s - 1, 0) / (sum |e^s - 1| + epsilon), with nothing of hidden keys.
void softpick(Graph&, const Attention& a) {
  const Value rise = exp(a.scores()) - 1;
  a.output(a.causal(maximum(rise, 0)) / (sum(a.causal(abs(rise)), a.keys) + 1e-9), a.v);
}

/// Weights (max s)^2 over their sum, which is an output, too, of the keys that a tensor shows.
void squared_relu(Graph& g, const Attention& a) {
  const Value is_visible = g.input("is_visible", {a.batch, a.keys}, Kind::boolean), positive = maximum(a.scores(), 0);
  const Value weights = select(is_visible, positive * positive, 0), total = sum(weights, a.keys);
  a.output(weights / (total + 1e-3), a.v);
  g.output("total", total, {a.batch, a.heads, a.queries});
}

/// Parts of sums that another call adds up: nothing is divided.
void sigmoid_parts(Graph& g, const Attention& a) {
  const Value weights = a.causal(sigmoid(a.scores()));
  g.output("out", matmul(weights, a.v, a.keys) * 0.5, {a.batch, a.heads, a.queries, a.value_depth});
  g.output("total", sum(weights, a.keys), {a.heads, a.batch, a.queries});
}

/// Squares over the root of the sum of their squares.
void of_other_power(Graph& g, const Attention& a) {
  const Value squares = a.scores() * a.scores(), total = sum(squares * squares, a.keys);
  a.output(squares / sqrt(total + 1), a.v);
  g.output("total", total, {a.batch, a.heads, a.queries});
}

/// Scores times a decay that is zero above the diagonal, as a state space has them (Mamba-2), without a total.
void decayed(Graph& g, const Attention& a) {
  const Value f = g.input("f", {a.batch, a.heads, a.queries}), h = g.input("h", {a.batch, a.heads, a.keys});
  a.output(a.scores() * exp(mask(f - h, index(a.keys) <= index(a.queries))), a.v);
}
/// Weights times another product of pairs, as the gradient by queries has them.
void times_other_pairs(Graph& g, const Attention& a) {
  const Value other = matmul(g.input("w", {a.batch, a.heads, a.queries, a.value_depth}), a.v, a.value_depth);
  const Value weights = softmax(a.scores(), a.keys);
  g.output("out", matmul(weights * other, a.k, a.keys), {a.batch, a.heads, a.queries, a.depth});
}
/// And shown where that is positive.
void shown_by_other_pairs(Graph& g, const Attention& a) {
  const Value other = matmul(g.input("w", {a.batch, a.heads, a.queries, a.value_depth}), a.v, a.value_depth);
  a.output(select(other > 0, softmax(a.scores(), a.keys), 0.0) * (1 / (1 + abs(other))), a.v);
}

void check_totals(Tried tried) {
  std::size_t row = 0;
  for (const char* type : {"f32", "bf16"}) {
    check_kernel("softpick", softpick, tried, row++, type);
    check_kernel("squared ReLU and its total", squared_relu, tried, row++, type);
  }
  check_kernel("sigmoid and its total", sigmoid_parts, tried, row++);
  check_kernel("squares over a root", of_other_power, tried, row++);
  check_kernel("decay of a state space", decayed, tried, row++);
  check_kernel("weights times another product of pairs", times_other_pairs, tried, row++);
  check_kernel("weights that another product of pairs shows", shown_by_other_pairs, tried, row++);
}

}  // namespace

TEST_CASE("weights over a total that no softmax makes are computed with it, and never stored", "[scores]") {
  for (const auto make : {softpick, squared_relu, sigmoid_parts, of_other_power}) CHECK(kinds_of(make) == std::vector<std::string>{"weighted_sum"});
}

TEST_CASE("kernels of weights over such a total are right", "[scores]") { check_totals(Tried::part); }
TEST_CASE("kernels of weights over such a total are right at every size of call", "[.full]") { check_totals(Tried::whole); }

TEST_CASE("queries are a dim that the keys do not have, whatever the names are", "[scores]") {
  for (const bool is_named : {false, true}) {
    Graph g;
    auto [documents, tokens, keys, depth, value_depth] = g.dims(is_named ? "queries" : "documents", "tokens", "keys", "depth", "value_depth");
    const Value q = g.input("q", {tokens, depth}), k = g.input("k", {documents, keys, depth}), v = g.input("v", {keys, value_depth});
    g.output("out", matmul(softmax(matmul(q, k, depth), keys), v, keys), {documents, tokens, value_depth});
    g.finish();
    const KernelSteps plan = Planned(g).plan;
    REQUIRE(plan.steps.size() == 1);
    CHECK(attention_in(plan.steps[0].roles)->queries == "tokens");
    const char* const shapes[] = {"queries=2,documents=2,tokens=5,keys=37,depth=7,value_depth=3", "queries=3,documents=3,tokens=37,keys=5,depth=4,value_depth=6"};
    check_shapes(KernelCase(g, "documents"), shapes);
  }
}

TEST_CASE("a total is stored where groups of rows go beyond the last one, too", "[scores]") {
  Graph g;
  sigmoid_parts(g, Attention(g));
  g.finish();
  const KernelCase kernel(g, "scores", {.schedule = "split_keys,register_rows=4,row_groups=4"});
  CHECK(kernel.difference("batch=2,heads=3,depth=5,value_depth=7,queries=37,keys=41", 1) == "");
}

TEST_CASE("a total is stored by devices, too", "[scores]") {
  if (const std::string problem = device_problem("opencl"); !problem.empty()) return skip(problem);
  const QuickOpencl quick;
  for (const auto make : {softpick, squared_relu, sigmoid_parts}) {
    Graph g;
    make(g, Attention(g));
    g.finish();
    REQUIRE(std::string(g.problem().view()) == "");
    const KernelCase kernel(g, "scores", {.target = "opencl", .schedule = small_tiles, .set = {"heads=3,depth=5,value_depth=7"}});
    CHECK(kernel.difference("batch=2,queries=37,keys=41", 1) == "");
  }
}

TEST_CASE("softpick gives what its formula in NumPy gives", "[scores]") {
  Graph g;
  softpick(g, Attention(g));
  g.finish();
  const KernelCase kernel(g, "scores");
  const DimExtents extents = {{"batch", 1}, {"heads", 1}, {"queries", 3}, {"keys", 3}, {"depth", 2}, {"value_depth", 2}};
  Arrays inputs;
  for (const Node& node : g.nodes()) {
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr) continue;
    Array& x = inputs[std::string(input->label)] = Array(node.type, extents);
    for (int n = 0; n < 6; ++n) {
      const int i = n / 2, d = n % 2;
      double& element = x.data[static_cast<std::size_t>(n)];
      if (input->label == "q") element = std::sin(1 + i + 2 * d);
      else element = input->label == "k" ? std::cos(2 * i - d) : std::sin(i * i + 3 * d);
    }
  }
  const std::vector<double> got = kernel.outputs(kernel.extents_of(inputs), inputs).at("out");
  const std::vector<double> expected = {0, 0.1411200081, 0, 0.0703619355, -0.4497123962, 0.3903991060};
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-6));
}

}  // namespace attune
