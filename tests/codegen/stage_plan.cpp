#include "codegen/plan/stage_plan.h"

#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

#include "dsl/variants/attention.h"
#include "tests/codegen/plan_trial.h"
#include "tests/codegen/planned.h"
#include "tests/random_graph.h"
#include "tools/measure/example.h"
#include "tools/measure/visible.h"

namespace attune {

TEST_CASE("attention is one stage", "[plan]") {
  for (const char* variant : {"scaled_dot_product", "causal", "causal_offset", "sliding_window", "soft_cap", "padded", "masked", "grouped_query"})
    CHECK(kinds(variant) == "online_softmax");
}

TEST_CASE("weights of queries that a product of scores is made of are stored", "[plan]") {
  Graph g;
  const auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
  const Value q = g.input("q", {queries, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, depth});
  g.output("out", matmul(softmax(matmul(softmax(q, depth), k, depth), keys), v, keys), {queries, depth});
  g.output("lse", log_sum_exp(q, depth), {queries});
  CHECK(problem_of_plans(g) == "");
  CHECK(reasons<OnlineSoftmaxRoles>(g).size() == 1);
  CHECK(reasons<RowSoftmaxRoles>(g).size() == 1);
}

TEST_CASE("a bias by distance is looked up once for each distance", "[plan]") {
  CHECK(kinds("relative_bias") == "pointwise online_softmax");
  CHECK(kinds("relative_bias", {"distances=clipped", "causal=true"}) == "pointwise online_softmax");
}

TEST_CASE("cosines and sines of positions are stored once for all heads, and stay with the attention of one", "[plan]") {
  for (const bool has_heads : {true, false}) {
    Graph g;
    auto [heads, queries, keys, depth, pairs] = g.dims("heads", "queries", "keys", "depth", "pairs");
    const auto input = [&](const char* name, Dim tokens) { return has_heads ? g.input(name, {heads, tokens, depth}) : g.input(name, {tokens, depth}); };
    const Value q = input("q", queries), k = input("k", keys), v = input("v", keys), steps = g.input("steps", {pairs}, Kind::i64);
    const auto turned = [&](Value x, Dim tokens) { return rotary_embedding(x, rotary_angle(index(tokens), steps), depth, pairs, RotaryPairs::half_split); };
    const Value out = matmul(softmax(matmul(turned(q, queries), turned(k, keys), depth), keys), v, keys);
    has_heads ? g.output("out", out, {heads, queries, depth}) : g.output("out", out, {queries, depth});
    const std::vector<std::string> tables = reasons<PointwiseRoles>(g);
    CHECK(tables == std::vector<std::string>(has_heads ? 4 : 0, "a table that is read for each element of other dims"));
    CHECK(reasons<OnlineSoftmaxRoles>(g).size() == 1);
  }
}

TEST_CASE("a layer is its projections around one attention", "[plan]") {
  CHECK(kinds("multi_head") == "gemm gemm gemm online_softmax gemm");
  CHECK(kinds("multi_head", {"biases=true", "dropout=0.1"}) == "gemm gemm gemm online_softmax gemm");
  CHECK(kinds("additive") == "gemm gemm online_softmax");
}

TEST_CASE("what walks rows is a stage that stores booleans or sums", "[plan]") {
  CHECK(kinds("top_keys") == "gemm row_walk row_softmax gemm");
  CHECK(kinds("top_blocks", {"query_block=16"}) == "reduce reduce gemm row_walk online_softmax");
}

TEST_CASE("weights that are an output are stored", "[plan]") {
  CHECK(kinds("multi_head", {"weights=true"}) == "gemm gemm gemm row_softmax gemm gemm gemm");
}

TEST_CASE("the logarithm of what a softmax divides by comes out of its stage", "[plan]") {
  CHECK(kinds("scaled_dot_product", {"lse=true"}) == "online_softmax");
  CHECK(kinds("padded", {"lse=true", "clears_padding=true"}) == "online_softmax");
  CHECK(kinds("scaled_dot_product", {"lse=true"}, false) == "gemm row_softmax gemm");
  CHECK(kinds("merge_partials") == "row_softmax reduce");
  CHECK(kinds("recurrent_attention", {"state=true"}) == "recurrence");
  CHECK(kinds("recurrent_attention", {"state=true"}, false) == "recurrence");
  CHECK(kinds("scaled_dot_product", {"row_max=true"}) == "online_softmax");
  CHECK(kinds("scaled_dot_product", {"row_max=true", "lse=true"}) == "online_softmax");

  OneHead a;
  const Value scores = a.scores();
  const auto [weights, lse] = softmax_with_lse(scores, a.keys);
  SECTION("alone it is a stage that stores no scores") {
    a.g.output("lse", lse, {a.queries});
    CHECK(problem_of_plans(a.g) == "");
    CHECK(reasons<OnlineSoftmaxRoles>(a.g) == std::vector<std::string>{"the log_sum_exp over keys alone reads what is made of queries x keys"});
  }
  SECTION("what the result is changed by afterwards, and depends on it, is another stage") {
    a.g.output("out", matmul(weights, a.v, a.keys) * exp(lse), {a.queries, a.depth});
    CHECK(problem_of_plans(a.g) == "");
    CHECK(reasons<OnlineSoftmaxRoles>(a.g).size() == 1);
    CHECK(reasons<PointwiseRoles>(a.g).size() == 1);
  }
  SECTION("where the stage's own operand depends on it, the scores are stored") {
    const Dim more = a.g.dim("more");
    a.g.output("out", matmul(weights, a.v * max(lse, a.queries), a.keys), {a.queries, a.depth});
    a.g.output("more", matmul(weights, a.g.input("w", {a.keys, more}) + max(lse, a.queries), a.keys), {a.queries, more});
    CHECK(problem_of_plans(a.g) == "");
    CHECK(reasons<OnlineSoftmaxRoles>(a.g).empty());
    CHECK(reasons<RowSoftmaxRoles>(a.g).size() == 1);
  }
}

TEST_CASE("weights that no softmax makes are computed with their matmul", "[plan]") {
  CHECK(kinds("sigmoid_attention") == "weighted_sum");
  CHECK(kinds("sigmoid_attention", {"causal=true", "key_bias=true"}) == "weighted_sum");
  CHECK(kinds("relu_attention", {"squared=true"}) == "weighted_sum");
  CHECK(kinds("retention") == "pointwise weighted_sum");
  CHECK(kinds("retention", {"normalised=true"}) == "pointwise weighted_sum");
  CHECK(kinds("linear_attention", {"causal=true", "normalised=true", "feature_map=elu_plus_1"}) == "weighted_sum");
  CHECK(kinds("sigmoid_attention", {}, false) == "gemm gemm");
  SECTION("but a plain chain of products is as the graph has it") {
    CHECK(kinds("linear_attention") == "gemm gemm");
    CHECK(kinds("linear_attention", {"normalised=true"}) == "gemm reduce gemm gemm");
  }
  SECTION("without a dim of heads a mask says that it is attention") {
    OneHead masked, plain;
    masked.output(select(index(masked.queries) >= index(masked.keys), sigmoid(masked.scores()), 0));
    plain.output(sigmoid(plain.scores()));
    CHECK(reasons<WeightedSumRoles>(masked.g) == std::vector<std::string>{"the weights of queries x keys are used by one matmul alone, without a softmax"});
    CHECK(reasons<WeightedSumRoles>(plain.g).empty());
  }
  SECTION("of two that follow each other, the first") {
    Graph g;
    const auto [heads, i, j, d] = g.dims("heads", "queries", "keys", "depth");
    const auto [e, f] = g.dims("value_depth", "more");
    const Value p = matmul(sigmoid(matmul(g.input("q", {heads, i, d}), g.input("k", {heads, j, d}), d)), g.input("v", {heads, j, e}), j);
    g.output("out", matmul(tanh(p), g.input("w", {heads, e, f}), e), {heads, i, f});
    CHECK(problem_of_plans(g) == "");
    CHECK(reasons<WeightedSumRoles>(g).size() == 1);
    CHECK(reasons<GemmRoles>(g).size() == 1);
  }
}

TEST_CASE("a sum of weights that something else reads, too, is stored beside their product", "[plan]") {
  OneHead a;
  const Value weights = select(index(a.queries) >= index(a.keys), a.scores(), 0), total = sum(weights, a.keys);
  a.g.output("out", matmul(weights, a.v, a.keys) / total, {a.queries, a.depth});
  a.g.output("total", total, {a.queries});
  CHECK(problem_of_plans(a.g) == "");
  CHECK(reasons<WeightedSumRoles>(a.g).size() == 1);
  CHECK(plan_stages(expanded(a.g)).size() == 1);
}

TEST_CASE("what needs the sum of weights elsewhere comes after their stage", "[plan]") {
  for (const bool is_before : {false, true}) {
    OneHead a;
    const Value weights = select(index(a.queries) >= index(a.keys), a.scores(), 0), total = sum(weights, a.keys), greatest = max(total, a.queries);
    const Value product = matmul(weights, a.v, a.keys);
    a.g.output("out", is_before ? product * greatest / total : product / total * greatest, {a.queries, a.depth});
    CHECK(problem_of_plans(a.g) == "");
    CHECK(reasons<WeightedSumRoles>(a.g).size() == (is_before ? 0 : 1));  // what comes before its last use would need the stage's own result
  }
}

TEST_CASE("a sum of another function of what weights are made of is computed beside their product", "[plan]") {
  const auto fused = [](Value (*weight)(const Value&), Value (*term)(const Value&)) {
    OneHead a;
    const Value scores = a.scores(), is_visible = index(a.queries) >= index(a.keys);
    const Value total = sum(select(is_visible, term(scores), 0), a.keys);
    a.g.output("out", matmul(select(is_visible, weight(scores), 0), a.v, a.keys) / (total + 1), {a.queries, a.depth});
    CHECK(problem_of_plans(a.g) == "");
    return reasons<WeightedSumRoles>(a.g).size() == 1;
  };
  using Function = Value (*)(const Value&);
  const Function rise = [](const Value& s) { return exp(s) - 1; };
  const Function rectified = [](const Value& s) { return maximum(exp(s) - 1, 0); };
  const Function size = [](const Value& s) { return abs(exp(s) - 1); };
  const Function square = [](const Value& s) { return s * s; };
  const Function power = [](const Value& s) { return exp(s); };
  const Function twice = [](const Value& s) { return exp(s * 2); };
  const Function shifted = [](const Value& s) { return s + 1; };
  CHECK(fused(rectified, size));
  CHECK(fused(rise, square));
  CHECK(fused(power, twice));        // both 0 of minus infinity
  CHECK_FALSE(fused(square, power));  // one of 0, the other of minus infinity
  CHECK_FALSE(fused(square, shifted));
}

TEST_CASE("masks of the scores that weights are made of hide the blocks that masks of the weights hide", "[plan]") {
  struct OfMasked {
    std::function<Value(Value)> weights;
    void operator()(Graph& g) const {
      const Attention a(g);
      a.output(weights(mask(a.scores(), index(a.queries) >= index(a.keys))), a.v);
    }
  };
  const auto visited = [](const Graph& graph) {
    const Planned planned(graph);
    const Graph staged = to_graph(function_of(*planned.staged.module));
    const Shape extents = fill_shape(staged, {{"batch", 1}, {"heads", 2}, {"queries", 300}, {"keys", 200}}).extents;
    const std::vector<VisiblePairs> visible = count_visible_pairs(staged, extents, {});
    if (visible.empty()) return Portion{};
    return count_visited_blocks(staged, {visible[0].node, "queries", {"batch", "heads"}, 48, 6, 128, 64}, extents, {});
  };
  const Portion causal = visited(variant_graph("causal"));
  CHECK(causal.part < causal.whole);
  const std::vector<std::function<Value(Value)>> functions = {
      [](Value s) { return sigmoid(s); },      [](Value s) { return sigmoid(s * 0.5 + 3); }, [](Value s) { return maximum(s, 0); },
      [](Value s) { return exp(minimum(s, 2)); }, [](Value s) { const Value p = maximum(s, 0); return p * p; }};
  for (const auto& function : functions) CHECK(visited(build(OfMasked{function})).part == causal.part);
  // What is not 0 of minus infinity has no mask.
  CHECK(visited(build(OfMasked{[](Value s) { return tanh(s); }})).whole == 0);
}

TEST_CASE("a factor of scores that is zero of pairs hides their blocks, of weights alone", "[plan]") {
  struct TimesFactor {
    bool is_on_the_left, is_output;
    void operator()(Graph& g) const {
      const Attention a(g);
      const Value f = g.input("f", {a.batch, a.heads, a.queries}), decay = exp(minimum(f - rename(f, a.queries, a.keys), 0));
      const Value factor = select(index(a.queries) < index(a.keys), 0, decay), weights = is_on_the_left ? factor * a.scores() : a.scores() * factor;
      a.output(weights, a.v);
      if (is_output) g.output("weights", weights, {a.batch, a.heads, a.queries, a.keys});
    }
  };
  const auto has_mask = [](const TimesFactor& made) {
    const Planned planned(build(made));
    const Graph staged = to_graph(function_of(*planned.staged.module));
    return !count_visible_pairs(staged, fill_shape(staged, {{"batch", 1}, {"heads", 2}, {"queries", 37}, {"keys", 37}}).extents, {}).empty();
  };
  CHECK(has_mask({true, false}));
  CHECK(has_mask({false, false}));
  CHECK_FALSE(has_mask({false, true}));  // a score that is no number shows there
}

TEST_CASE("a stage computes one product, softmax or sum, and nothing else in its loops", "[plan]") {
  for (const std::string_view variant : names_of_variants()) CHECK(problem_of_plans(variant_graph(variant)) == "");
  CHECK(problem_of_plans(variant_graph("multi_head", {"weights=true"})) == "");
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    CHECK(problem_of_plans(random_graph(seed, {.operations = 6 + static_cast<int>(seed % 16), .has_special = seed % 2 == 0}).graph) == "");
  }
}

TEST_CASE("without fusion every product and softmax is a stage", "[plan]") {
  CHECK(kinds("causal", {}, false) == "gemm row_softmax gemm");
}

TEST_CASE("a stage finds its inputs among arguments and earlier stages", "[plan]") {
  for (const std::string_view variant : names_of_variants()) {
    const Graph graph = expanded(variant_graph(variant));
    std::vector<int> ready;
    for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
      if (std::holds_alternative<Input>(graph.node(id).op)) ready.push_back(id);
    for (const StagePlan& plan : plan_stages(graph)) {
      for (const int input : plan.inputs) CHECK(std::find(ready.begin(), ready.end(), input) != ready.end());
      ready.insert(ready.end(), plan.results.begin(), plan.results.end());
    }
  }
}

}  // namespace attune
