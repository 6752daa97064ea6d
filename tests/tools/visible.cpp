#include "tools/measure/visible.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tests/tools/mask_scene.h"
#include "tests/variant_graph.h"

namespace attune {

TEST_CASE("visible pairs are counted as the interpreter sees them", "[visible]") {
  for (const MaskCase& mask : mask_cases())
    for (const Shape& shape :
         {Shape{}, Shape{{"queries", 1}, {"keys", 130}}, Shape{{"queries", 150}, {"keys", 131}}, Shape{{"queries", 0}}, Shape{{"keys", 0}}}) {
      const Scene scene(mask.predicate, shape);
      const std::vector<VisiblePairs> counted = count_visible_pairs(scene.graph, scene.extents, scene.inputs);
      INFO(mask.name << ", " << scene.extent("queries") << " x " << scene.extent("keys"));
      REQUIRE(counted.size() == 1);
      std::int64_t all = 1, outside = 1;
      for (const Name dim : {"batch", "heads", "queries", "keys"}) {
        all *= scene.extent(dim);
        if (!scene.visible.type.dims.has(dim)) outside *= scene.extent(dim);
      }
      std::int64_t expected = 0;
      for (const double x : scene.visible.data) expected += x != 0;
      CHECK(counted[0].pairs.whole == all);
      if (all > 0) CHECK(counted[0].pairs.part == expected * outside);
    }
}

TEST_CASE("a renamed dim of a mask is the other dim of the scores", "[visible]") {
  const Scene scene(
      [](Graph& g, const Attention& a) {
        const Value ids = g.input("ids", {a.batch, a.queries}, Kind::i64);
        const Value places = rename(index(a.queries), a.queries, a.keys);
        return ids == rename(ids, a.queries, a.keys) || places + 3 <= index(a.queries);
      },
      {{"queries", 70}});
  const ScoreMask mask(scene.graph, softmax_of(scene.graph), "queries", scene.extents, scene.inputs);
  for_each_box(scene, mask, 70, 9, [&](const IndexBox& box) { CHECK(mask.count(box).part == brute_count(scene, mask, box)); });
}

TEST_CASE("masks inside masks and masks that hide are counted", "[visible]") {
  Graph g;
  const Attention a(g);
  const Value hidden = index(a.keys) < 4 && index(a.queries) < 9;
  const double infinity = std::numeric_limits<double>::infinity();
  a.output(mask(select(hidden, -infinity, a.scores()), index(a.queries) >= index(a.keys)));
  g.finish();
  const Graph graph = expanded(g);
  const Shape extents = fill_shape(graph, {{"queries", 11}, {"keys", 12}}).extents;
  std::int64_t expected = 0;
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < 12; ++j) expected += i >= j && !(j < 4 && i < 9);
  const auto counted = count_visible_pairs(graph, extents, {});
  REQUIRE(counted.size() == 1);
  CHECK(counted[0].pairs.part == 2 * 3 * expected);
}

TEST_CASE("rectangles of visible pairs hold each of them once", "[visible]") {
  for (const MaskCase& mask_case : mask_cases())
    for (const auto& [queries, keys] : {std::pair{45, 67}, std::pair{1, 131}, std::pair{150, 3}}) {
      const Scene scene(mask_case.predicate, {{"queries", queries}, {"keys", keys}});
      const ScoreMask mask(scene.graph, softmax_of(scene.graph), "queries", scene.extents, scene.inputs);
      std::int64_t wrong = 0;
      for_each_box(scene, mask, queries, keys, [&](const IndexBox& box) {
        std::vector<int> shown(static_cast<std::size_t>(queries * keys), 0);
        mask.each_visible(box, [&](const IndexRange& rows, const IndexRange& columns) {
          for (std::int64_t i = rows.begin; i < rows.end; ++i)
            for (std::int64_t j = columns.begin; j < columns.end; ++j) ++shown[static_cast<std::size_t>(i * keys + j)];
        });
        IndexBox pair = box;
        for (std::int64_t i = 0; i < queries; ++i)
          for (std::int64_t j = 0; j < keys; ++j) {
            pair[0] = {i, i + 1};
            pair[1] = {j, j + 1};
            wrong += shown[static_cast<std::size_t>(i * keys + j)] != brute_count(scene, mask, pair);
          }
      });
      INFO(mask_case.name << ", " << queries << " x " << keys);
      CHECK(wrong == 0);
    }
}

TEST_CASE("only visible pairs count as arithmetic of the products over scores", "[visible]") {
  const auto flops = [](const Graph& variant, const Shape& shape) {
    const Graph graph = expanded(variant);
    const FilledShape filled = fill_shape(graph, shape);
    REQUIRE(filled.problem.empty());
    return matmul_flops(graph, filled.extents, count_visible_pairs(graph, filled.extents, random_inputs(graph, filled.extents, 1)));
  };
  const Shape square{{"batch", 1}, {"heads", 8}, {"queries", 50}, {"keys", 50}, {"depth", 64}};
  CHECK(flops(variant_graph("scaled_dot_product"), square) == Approx(4.0 * 8 * 50 * 50 * 64));
  CHECK(flops(variant_graph("causal"), square) == Approx(4.0 * 8 * (50 * 51 / 2) * 64));
  CHECK(flops(variant_graph("sliding_window", {"window=5"}), square) == Approx(4.0 * 8 * (50 * 5 - 10) * 64));
  CHECK(flops(variant_graph("soft_cap"), square) == Approx(4.0 * 8 * 50 * 50 * 64));
  // three projections of the tokens in and one out; q k^T over depth, weights v over keys
  const Shape layer{{"batch", 2}, {"tokens", 10}, {"model", 32}, {"heads", 4}, {"depth", 8}, {"value_depth", 6}};
  CHECK(flops(variant_graph("multi_head"), layer) == Approx(2.0 * 2 * 10 * 4 * (32 * (8 + 8 + 6 + 6) + 10 * (8 + 6))));
  // wq q and wk k, the sum over hidden for every pair, weights v
  const Shape small{{"batch", 3}, {"queries", 5}, {"keys", 7}, {"hidden", 11}, {"depth", 2}, {"key_depth", 4}, {"value_depth", 6}};
  CHECK(flops(variant_graph("additive"), small) == Approx(2.0 * 3 * (5 * 11 * 2 + 7 * 11 * 4 + 5 * 7 * 11 + 5 * 7 * 6)));
  CHECK(flops(variant_graph("causal"), {{"keys", 0}}) == 0);
}

TEST_CASE("the inputs of masks are those that the predicates read", "[visible]") {
  CHECK(mask_inputs(variant_graph("causal")).empty());
  CHECK(mask_inputs(variant_graph("padded")) == std::vector<std::string>{"lengths"});
  CHECK(mask_inputs(variant_graph("multi_head", {"mask=true", "lengths=true"})).size() == 2);
}

TEST_CASE("masks of weights that no softmax makes count as those of a softmax", "[visible]") {
  const auto counted = [](const Graph& variant) {
    const Graph graph = expanded(variant);
    const Shape extents = fill_shape(graph, {{"batch", 1}, {"heads", 2}, {"queries", 300}, {"keys", 200}}).extents;
    const std::vector<VisiblePairs> visible = count_visible_pairs(graph, extents, {});
    REQUIRE(visible.size() == 1);
    const Portion blocks = count_visited_blocks(graph, {visible[0].node, "queries", {"batch", "heads"}, 48, 6, 128, 64}, extents, {});
    return std::tuple(visible[0].pairs.part, visible[0].pairs.whole, blocks.part, blocks.whole, matmul_flops(graph, extents, visible));
  };
  const auto causal = counted(variant_graph("causal"));
  CHECK(counted(variant_graph("retention")) == causal);
  CHECK(counted(variant_graph("sigmoid_attention", {"causal=true"})) == causal);
  CHECK(count_visible_pairs(expanded(variant_graph("padded", {"clears_padding=true"})), fill_shape(expanded(variant_graph("padded")), {}).extents,
                            {{"lengths", Array(Type{Kind::i64, {"batch"}}, DimExtents{{"batch", 2}})}})
            .size() == 1);
}

TEST_CASE("long sequences are counted exactly, too", "[visible]") {
  const std::int64_t n = 32768;
  const auto count = [&](const Graph& variant) {
    const Graph graph = expanded(variant);
    const Shape extents = fill_shape(graph, {{"batch", 1}, {"heads", 1}, {"queries", n}, {"keys", n}}).extents;
    const VisiblePairs visible = count_visible_pairs(graph, extents, {})[0];
    const Portion blocks = count_visited_blocks(graph, {visible.node, "queries", {"batch", "heads"}, 48, 48, 256, 64}, extents, {});
    CHECK(blocks.share() > visible.pairs.share());
    CHECK(blocks.whole == (n + 47) / 48 * (n / 64));
    return visible.pairs.part;
  };
  CHECK(count(variant_graph("causal")) == n * (n + 1) / 2);
  CHECK(count(variant_graph("sliding_window", {"window=300"})) == n * 300 - 300 * 299 / 2);
}

TEST_CASE("sequences of any length are counted within a doubt that is said", "[visible]") {
  const std::int64_t n = 1'000'000'000;
  const auto count = [&](const Graph& variant, double right) {
    const Graph graph = expanded(variant);
    const Shape extents = fill_shape(graph, {{"batch", 1}, {"heads", 1}, {"queries", n}, {"keys", n}}).extents;
    const VisiblePairs visible = count_visible_pairs(graph, extents, {})[0];
    const Portion blocks = count_visited_blocks(graph, {visible.node, "queries", {"batch", "heads"}, 48, 48, 256, 64}, extents, {});
    CHECK(std::abs(static_cast<double>(visible.pairs.part) - right) <= static_cast<double>(visible.pairs.doubt));
    CHECK(static_cast<double>(visible.pairs.part) == Approx(right).epsilon(0.1));
    for (const Portion& portion : {visible.pairs, blocks}) {
      CHECK(portion.doubt > 0);
      CHECK(static_cast<double>(portion.doubt) < 1e-4 * static_cast<double>(portion.whole));
    }
  };
  const double length = static_cast<double>(n);
  count(variant_graph("causal"), length * (length + 1) / 2);
  count(variant_graph("sliding_window", {"window=300"}), length * 300 - 300 * 299 / 2);
}

TEST_CASE("a select in a hidden layer is no mask of pairs, one over the weights of attention is", "[visible]") {
  const auto nodes = [](auto describe) {
    Graph g;
    describe(g);
    g.finish();
    const Graph plain = expanded(g);
    REQUIRE(plain.problem().empty());
    return nodes_with_masks(plain);
  };
  CHECK(nodes([](Graph& g) {
          auto [batch, tokens, model, hidden, features] = g.dims("batch", "tokens", "model", "hidden", "features");
          const Value h = maximum(linear(g.input("x", {batch, tokens, model}), g.input("w1", {hidden, model}), model), 0);
          const Value is_token = index(tokens) < g.input("lengths", {batch}, Kind::i64);
          g.output("out", linear(select(is_token, h, 0), g.input("w2", {features, hidden}), hidden), {batch, tokens, features});
        }).empty());
  CHECK(nodes([](Graph& g) {
          auto [batch, queries, keys, depth, value_depth] = g.dims("batch", "queries", "keys", "depth", "value_depth");
          const Value scores = matmul(g.input("q", {batch, queries, depth}), g.input("k", {batch, keys, depth}), depth);
          const Value is_key = index(keys) < g.input("lengths", {batch}, Kind::i64);
          g.output("out", matmul(select(is_key, sigmoid(scores), 0), g.input("v", {batch, keys, value_depth}), keys), {batch, queries, value_depth});
        }).size() == 1);
}

}  // namespace attune
