/// Steps that are swept over blocks of rows: which graphs have them, and that kernels of several blocks give the interpreter's results in little memory.
#include "codegen/steps/sweeps.h"

#include <catch2/catch.hpp>

#include "dsl/gradients.h"
#include "dsl/variants/attention.h"
#include "runtime/sweeps.h"
#include "runtime/threads.h"
#include "tests/codegen/kernel_call.h"
#include "tests/codegen/planned.h"
#include "tests/codegen/swept_graph.h"

namespace attune {
namespace {

/// Weights of what later keys leave over (Tan et al. 2024, stick-breaking attention).
void stick_breaking(Graph& g, const Attention& a) {
  const Value scores = a.scores(), is_seen = index(a.keys) < index(a.queries) + (extent(a.keys) - extent(a.queries));
  const Value taken = select(is_seen, softplus(scores), 0.0);
  const Value weights = select(is_seen, exp(scores - reverse_cumulative_sum(taken, a.keys)), 0.0);
  output_rows(g, a, matmul(weights, a.v, a.keys));
}
/// Scores and weights that heads exchange (Shazeer et al. 2020).
void talking_heads(Graph& g, const Attention& a) {
  const Dim mixed = g.dim("mixed"), last = g.dim("last");
  const Value to_mixed = g.input("to_mixed", {a.heads, mixed}), to_last = g.input("to_last", {mixed, last});
  const Value weights = softmax(matmul(a.scores(), to_mixed, a.heads), a.keys);
  const Value v = g.input("values", {a.batch, last, a.keys, a.value_depth});
  g.output("out", matmul(matmul(weights, to_last, mixed), v, a.keys), {a.batch, last, a.queries, a.value_depth});
}
/// The weights are a result, too, in an order of its own.
void greatest_keys(Graph& g, const Attention& a) {
  const Value scores = a.scores(), weights = softmax(mask(scores, top_k(scores, a.keys, 5)), a.keys);
  output_rows(g, a, matmul(weights, a.v, a.keys));
  g.output("weights", weights, {a.batch, a.heads, a.keys, a.queries});
}
/// How far a key is behind the row's position among those that count (Golovneva et al. 2024, CoPE): a step of attention reads what is stored.
void counted_positions(Graph& g, const Attention& a) {
  const Value scores = a.scores(), place = reverse_cumulative_sum(sigmoid(scores), a.keys);
  const Value others = g.input("others", {a.batch, a.heads, a.keys, a.depth});
  output_rows(g, a, matmul(softmax(matmul(a.q, others, a.depth) - 0.01 * place, a.keys), a.v, a.keys));
}
/// Weights that sums and squares of a row divide, and no softmax.
void normed_weights(Graph& g, const Attention& a) {
  const Value scores = a.scores(), apart = scores - mean(scores, a.keys);
  output_rows(g, a, matmul(apart * rsqrt(mean(apart * apart, a.keys) + 1e-5), a.v, a.keys));
}
/// A column's sum is that of all blocks of rows.
void column_sums(Graph& g, const Attention& a) {
  const Value weights = cumulative_sum(a.scores(), a.keys);
  output_rows(g, a, matmul(weights, a.v, a.keys));
  g.output("columns", -0.5 * sum(weights, a.queries), {a.batch, a.heads, a.keys});
}
/// What the output depends on the operands by (Dao et al. 2022, algorithm 4). Blocks of rows add up to those of keys and values, of which one is merged
/// into a result.
void gradients(Graph& g, const Attention& a) {
  const Value d_out = g.input("d_out", {a.batch, a.heads, a.queries, a.value_depth});
  const Value weights = softmax(a.scores(), a.keys), d_weights = matmul(d_out, a.v, a.value_depth);
  const Value d_scores = weights * (d_weights - sum(weights * d_weights, a.keys)) * (1 / sqrt(extent(a.depth)));
  const Dim width = g.dim("width");
  g.output("d_q", matmul(d_scores, a.k, a.keys), {a.batch, a.heads, a.queries, a.depth});
  g.output("d_k", merge(matmul(d_scores, a.q, a.queries), {a.heads, a.depth}, width), {a.batch, a.keys, width});
  g.output("d_v", matmul(weights, d_out, a.queries), {a.batch, a.keys, a.heads, a.value_depth});
}
/// The gradients of attention under a mask.
void masked_gradients(Graph& g, const Attention& a, Value is_seen) {
  const Value d_out = g.input("d_out", {a.batch, a.heads, a.queries, a.value_depth});
  const auto [d_q, d_k, d_v] = gradients(matmul(softmax(mask(a.scores(), is_seen), a.keys), a.v, a.keys), d_out, a.q, a.k, a.v);
  g.output("d_q", d_q, {a.batch, a.heads, a.queries, a.depth});
  g.output("d_k", d_k, {a.batch, a.heads, a.keys, a.depth});
  g.output("d_v", d_v, {a.batch, a.heads, a.keys, a.value_depth});
}
void causal_gradients(Graph& g, const Attention& a) { masked_gradients(g, a, index(a.queries) >= index(a.keys)); }
/// From the last query back, as many keys before it as after.
void window_gradients(Graph& g, const Attention& a) {
  const Value age = index(a.queries) + extent(a.keys) - extent(a.queries) - index(a.keys);
  masked_gradients(g, a, age < 40 && age > -40 && index(a.keys) != 3);
}
/// Which keys a query sees is read.
void given_gradients(Graph& g, const Attention& a) { masked_gradients(g, a, index(a.keys) <= g.input("last", {a.batch, a.queries}, Kind::i64)); }
/// Weights and what is taken from them: what is hidden is 0 in both.
void causal_weights(Graph& g, const Attention& a) {
  const Value weights = softmax(mask(a.scores(), index(a.keys) <= index(a.queries)), a.keys) * g.input("gate", {a.heads});
  const Value both = weights - weights * sum(weights * a.scores(), a.keys);
  output_rows(g, a, matmul(both, a.v, a.keys));
  g.output("columns", sum(both, a.queries), {a.batch, a.heads, a.keys});
}
/// What a row's logarithm multiplies is no weight: all pairs count.
void times_logarithm(Graph& g, const Attention& a) {
  const Value scores = mask(a.scores(), index(a.keys) <= index(a.queries));
  const Value weights = softmax(scores, a.keys), others = tanh(a.scores()) * log_sum_exp(scores, a.keys);
  output_rows(g, a, matmul(weights * others, a.v, a.keys));
  g.output("columns", sum(others, a.queries), {a.batch, a.heads, a.keys});
}
/// Causal weights that heads exchange are causal weights.
void exchanged_weights(Graph& g, const Attention& a) {
  const Dim last = g.dim("last");
  const Value weights = softmax(mask(a.scores(), index(a.keys) <= index(a.queries)), a.keys);
  const Value v = g.input("values", {a.batch, last, a.keys, a.value_depth});
  g.output("out", matmul(matmul(weights, g.input("to_last", {a.heads, last}), a.heads), v, a.keys), {a.batch, last, a.queries, a.value_depth});
}
/// The weights are a result, whose hidden ones are zeros that somebody has to write.
void kept_weights(Graph& g, const Attention& a) {
  causal_weights(g, a);
  g.output("weights", softmax(mask(a.scores(), index(a.keys) <= index(a.queries)), a.keys), {a.batch, a.heads, a.queries, a.keys});
}
/// Heads share keys and values, to whose gradients all of them add up.
void shared_gradients(Graph& g, const Attention& a) {
  const Value k = g.input("key", {a.batch, a.keys, a.depth}), v = g.input("value", {a.batch, a.keys, a.value_depth});
  const Value d_out = g.input("d_out", {a.batch, a.heads, a.queries, a.value_depth});
  const Value weights = softmax(matmul(a.q, k, a.depth), a.keys), d_weights = matmul(d_out, v, a.value_depth);
  const Value d_scores = weights * (d_weights - sum(weights * d_weights, a.keys));
  g.output("d_k", matmul(d_scores, a.q, {a.heads, a.queries}), {a.batch, a.keys, a.depth});
  g.output("d_v", matmul(weights, d_out, {a.heads, a.queries}) / to_real(extent(a.heads)), {a.batch, a.keys, a.value_depth});
}
/// The sum over rows is not what blocks add up to, but its square.
void squared_sums(Graph& g, const Attention& a) {
  const Value weights = cumulative_sum(a.scores(), a.keys), columns = matmul(weights, a.q, a.queries);
  g.output("out", columns * columns, {a.batch, a.heads, a.keys, a.depth});
}
/// A row needs the sum over all of them.
void divided_by_columns(Graph& g, const Attention& a) {
  const Value weights = cumulative_sum(a.scores(), a.keys);
  output_rows(g, a, matmul(weights * sum(weights, a.queries), a.v, a.keys));
}
/// The hidden layer is stored, and nothing runs along it but products.
void hidden_layer(Graph& g, const Attention& a) {
  const Dim hidden = g.dim("hidden");
  const Value up = g.input("up", {hidden, a.depth}), down = g.input("down", {hidden, a.value_depth});
  output_rows(g, a, matmul(gelu(matmul(a.q, up, a.depth)), down, hidden));
}
/// A norm of what a product gives, and another product of that.
void normed_layer(Graph& g, const Attention& a) {
  const auto [model, features] = g.dims("model", "features");
  const Value up = g.input("up", {model, a.depth}), down = g.input("down", {features, model});
  const Value x = matmul(a.q, up, a.depth), normed = x * rsqrt(mean(x * x, model) + 1e-6);
  g.output("out", matmul(normed, down, model), {a.batch, a.heads, a.queries, features});
}
/// Queries and keys are tokens: keys are read whole, under another name.
void tokens_twice(Graph& g, const Attention&) {
  const auto [tokens, depth, keys] = g.dims("tokens", "depth", "keys");
  const Value q = g.input("queries", {tokens, depth}), k = g.input("keys", {tokens, depth});
  const Value is_before = index(keys) <= index(tokens) + 0 * extent(tokens);
  const Value scores = matmul(q, rename(k * 0.5, tokens, keys), depth);
  g.output("out", cumulative_sum(select(is_before, scores, 0.0), keys), {tokens, keys});
}
/// Keys are half of what they were, and half of the same rows.
void tokens_mixed(Graph& g, const Attention&) {
  const auto [tokens, depth, keys] = g.dims("tokens", "depth", "keys");
  const Value q = g.input("queries", {tokens, depth}), k = g.input("keys", {tokens, depth});
  const Value scores = matmul(q, rename(k + q, tokens, keys), depth);
  g.output("out", cumulative_sum(scores, keys), {tokens, keys});
}
/// The old rows of a cache are read where they lie, and new ones written there.
void written_cache(Graph& g, const Attention& a) {
  const Dim rows = g.dim("rows");
  const Value cache = g.input("cache", {a.batch, a.heads, a.keys, a.depth}), row = g.input("row", {a.batch, a.heads, rows, a.depth});
  const Value scores = matmul(a.q, cache, a.depth);
  output_rows(g, a, matmul(cumulative_sum(scores, a.keys), a.v, a.keys));
  g.output_in_place(cache, write_rows(cache, a.keys, row, rows, g.input("position", {}, Kind::i64)));
}
/// Rows are columns by another name.
void tokens_alone(Graph& g, const Attention&) {
  const auto [tokens, depth, others] = g.dims("tokens", "depth", "others");
  const Value x = g.input("x", {tokens, depth});
  const Value scores = matmul(x, rename(x, tokens, others), depth);
  g.output("out", cumulative_sum(scores, others), {tokens, others});
}

using Texts = std::vector<std::string>;

struct OneThread {
  OneThread() : before(num_threads()) { set_num_threads(1).value(); }
  OneThread(const OneThread&) = delete;
  ~OneThread() { set_num_threads(before).value(); }
  int before;
};

}  // namespace

TEST_CASE("stages that store pairs are swept over rows and what else each has", "[sweeps]") {
  CHECK(sweeps_of(stick_breaking) == Texts{"1 to 3: batch heads queries"});
  CHECK(sweeps_of(talking_heads) == Texts{"1 to 5: batch queries"});
  CHECK(sweeps_of(greatest_keys) == Texts{"1 to 4: batch heads queries"});
  CHECK(sweeps_of(counted_positions) == Texts{"1 to 3: batch heads queries"});
  CHECK(sweeps_of(tokens_twice) == Texts{"1 to 2: tokens"});
  CHECK(sweeps_of(normed_weights) == Texts{"1 to 4: batch heads queries"});
  CHECK(sweeps_of(column_sums) == Texts{"1 to 4: batch heads queries"});
  CHECK(sweeps_of(gradients) == Texts{"1 to 7: batch queries"});
  CHECK(sweeps_of(shared_gradients) == Texts{"1 to 6: batch queries"});
}

TEST_CASE("blocks of rows see the columns between two lines that a mask shows, where all else is nothing", "[sweeps]") {
  CHECK(sweeps_of(causal_gradients) == Texts{"1 to 7: keys <= r batch heads queries"});
  CHECK(sweeps_of(window_gradients) == Texts{"1 to 7: r - 39 + keys - queries <= keys <= r + 39 + keys - queries batch heads queries"});
  CHECK(sweeps_of(given_gradients) == Texts{"1 to 7: batch heads queries"});
  CHECK(sweeps_of(causal_weights) == Texts{"1 to 6: keys <= r batch heads queries"});
  CHECK(sweeps_of(exchanged_weights) == Texts{"1 to 4: keys <= r batch queries"});
  for (const auto make : {kept_weights, times_logarithm})
    for (const std::string& text : sweeps_of(make)) CHECK(text.find("<=") == std::string::npos);
}

TEST_CASE("nothing is swept where a row is not computed by itself, or where products and norms alone read what is stored", "[sweeps]") {
  CHECK(sweeps_of(squared_sums) == Texts{});
  CHECK(sweeps_of(divided_by_columns) == Texts{});
  CHECK(sweeps_of(hidden_layer) == Texts{});
  CHECK(sweeps_of(normed_layer) == Texts{});
  CHECK(sweeps_of(tokens_alone) == Texts{});
  CHECK(sweeps_of(tokens_mixed) == Texts{});
}

TEST_CASE("rows are written behind the sweep that reads what was there", "[sweeps]") {
  CHECK(sweeps_of(written_cache) == Texts{"1 to 3: batch heads queries"});
  const Graph graph = graph_of(written_cache);
  CHECK(Planned(graph).plan.steps.back().kind() == WriteRowsRoles::name);
}

TEST_CASE("what only a sweep reads has blocks for dims, and what it shares with others is a view", "[sweeps]") {
  const Graph graph = graph_of(greatest_keys);
  const KernelSteps plan = Planned(graph).plan;
  std::size_t in_blocks = 0, views = 0;
  for (const StepTensor& tensor : plan.tensors) {
    const bool has_block = std::ranges::find(tensor.dims, "queries_block") != tensor.dims.end();
    in_blocks += has_block && !tensor.view;
    views += has_block && tensor.view;
    CHECK((tensor.role == StepTensor::Role::stored || !has_block || tensor.view));
  }
  CHECK(in_blocks == 2);  // scores and which of them are great; the weights are a result in another order, copied at the end
  CHECK(views == 3);      // q, weights as they are stored, out
  for (std::size_t number = plan.sweeps[0].first; number < plan.sweeps[0].first + plan.sweeps[0].count; ++number)
    CHECK(std::ranges::find(plan.steps[number].dims, "queries") == plan.steps[number].dims.end());
}

TEST_CASE("kernels of several blocks give the interpreter's results, and store no more than blocks", "[sweeps]") {
  const OneThread one;
  struct Case {
    const char* name;
    void (*make)(Graph&, const Attention&);
    const char* shape;
    double pairs, stored;  ///< of all rows, and how many tensors of them there would be
  };
  const Case cases[] = {{"stick_breaking", stick_breaking, "batch=1,heads=3,queries=350,keys=701,depth=5,value_depth=3", 3 * 350 * 701, 2},
                        {"talking_heads", talking_heads, "batch=2,heads=2,queries=193,keys=1201,depth=5,value_depth=3,mixed=3,last=2", 2 * 2 * 193 * 1201, 4},
                        {"counted_positions", counted_positions, "batch=1,heads=1,queries=513,keys=1301,depth=5,value_depth=3", 513 * 1301, 2},
                        {"normed_weights", normed_weights, "batch=1,heads=3,queries=350,keys=701,depth=5,value_depth=3", 3 * 350 * 701, 1},
                        {"column_sums", column_sums, "batch=1,heads=3,queries=350,keys=701,depth=5,value_depth=3", 3 * 350 * 701, 2},
                        {"gradients", gradients, "batch=1,heads=3,queries=350,keys=701,depth=5,value_depth=3", 3 * 350 * 701, 3},
                        {"causal_gradients", causal_gradients, "batch=1,heads=3,queries=350,keys=301,depth=5,value_depth=3", 3 * 350 * 301, 3},
                        {"causal_gradients", causal_gradients, "batch=2,heads=3,queries=0,keys=301,depth=5,value_depth=3", 0, 3},
                        {"causal_gradients", causal_gradients, "batch=2,heads=3,queries=301,keys=0,depth=5,value_depth=3", 0, 3},
                        {"causal_gradients", causal_gradients, "batch=2,heads=1,queries=257,keys=513,depth=70,value_depth=3", 2 * 257 * 513, 3},
                        {"window_gradients", window_gradients, "batch=2,heads=1,queries=350,keys=517,depth=5,value_depth=3", 2 * 350 * 517, 3},
                        {"window_gradients", window_gradients, "batch=1,heads=1,queries=517,keys=100,depth=5,value_depth=3", 517 * 100, 3},
                        {"causal_weights", causal_weights, "batch=1,heads=3,queries=350,keys=701,depth=5,value_depth=3", 3 * 350 * 701, 2},
                        {"times_logarithm", times_logarithm, "batch=1,heads=2,queries=350,keys=301,depth=5,value_depth=3", 2 * 350 * 301, 4},
                        {"exchanged_weights", exchanged_weights, "batch=2,heads=2,queries=293,keys=701,depth=5,value_depth=3,last=3", 2 * 3 * 293 * 701, 3},
                        {"shared_gradients", shared_gradients, "batch=2,heads=2,queries=350,keys=701,depth=5,value_depth=3", 4 * 350 * 701, 3},
                        {"tokens_twice", tokens_twice, "tokens=1301,depth=5", 1301 * 1301, 1}};
  for (const Case& tried : cases) {
    const Graph graph = graph_of(tried.make);
    KernelCall call(graph, tried.name, tried.shape);
    INFO(call.name());
    Workspace workspace;
    CHECK(call(&workspace) == "");
    CHECK(call.difference() == "");
    CHECK(static_cast<double>(workspace.peak_bytes()) < static_cast<double>(swept_bytes) + 0.5 * tried.stored * tried.pairs * sizeof(float));
  }
}

TEST_CASE("a result of pairs is written block by block into any memory", "[sweeps]") {
  const OneThread one;
  const Graph graph = graph_of(greatest_keys);
  KernelCall call(graph, "greatest_keys", "batch=1,heads=2,queries=321,keys=901,depth=5,value_depth=3");
  CHECK(call() == "");
  CHECK(call.difference() == "");
}

}  // namespace attune
