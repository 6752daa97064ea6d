#include "tools/measure/visible.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/variant_graph.h"
#include "tools/measure/score_mask.h"

namespace attune {
namespace {

using MakePredicate = std::function<Value(Graph&, const Attention&)>;

/// A mask, and whether intervals judge its blocks exactly.
struct MaskCase {
  std::string name;
  MakePredicate predicate;
  bool is_exact = true;
};

std::vector<MaskCase> mask_cases() {
  return {
      {"causal", [](Graph&, const Attention& a) { return index(a.queries) >= index(a.keys); }},
      {"bottom-right causal", [](Graph&, const Attention& a) { return index(a.keys) <= index(a.queries) + extent(a.keys) - extent(a.queries); }},
      {"window", [](Graph&, const Attention& a) { return index(a.queries) - index(a.keys) >= 0 && index(a.queries) - index(a.keys) < 19; }},
      {"prefix", [](Graph&, const Attention& a) { return index(a.keys) < 23 || index(a.queries) >= index(a.keys); }},
      {"everything but a window", [](Graph&, const Attention& a) { return !(abs(index(a.queries) - index(a.keys)) < 11); }},
      {"chunks", [](Graph&, const Attention& a) { return floor_div(index(a.queries), 17) == floor_div(index(a.keys), 17); }},
      {"dilated", [](Graph&, const Attention& a) { return mod(index(a.queries) - index(a.keys), 3) == 0; }, false},
      {"a slope in reals", [](Graph&, const Attention& a) { return to_real(index(a.queries)) * 0.7 > to_real(index(a.keys)) - 3.5; }},
      {"only queries", [](Graph&, const Attention& a) { return index(a.queries) >= 5; }},
      {"lengths", [](Graph& g, const Attention& a) { return index(a.keys) < g.input("lengths", {a.batch}, Kind::i64); }},
      {"lengths that are counted",
       [](Graph& g, const Attention& a) {
         const Dim tokens = g.dim("tokens");
         return index(a.keys) < sum(to_i64(g.input("is_there", {a.batch, tokens}, Kind::boolean)), tokens);
       }},
      {"a tensor", [](Graph& g, const Attention& a) { return g.input("mask", {a.batch, a.queries, a.keys}, Kind::boolean); }},
      {"a tensor by head, and causal",
       [](Graph& g, const Attention& a) { return g.input("mask", {a.heads, a.keys}, Kind::boolean) && index(a.queries) >= index(a.keys); }, false},
      {"a table of reals", [](Graph& g, const Attention& a) { return g.input("bias", {a.queries, a.keys}) > 0.3; }, false},
      {"documents",
       [](Graph& g, const Attention& a) {
         return g.input("query_ids", {a.batch, a.queries}, Kind::i64) == g.input("key_ids", {a.batch, a.keys}, Kind::i64);
       }, false},
      {"positions from a table",
       [](Graph& g, const Attention& a) {
         const Dim places = g.dim("places");
         return index(a.queries) >= to_i64(gather(g.input("position", {places}, Kind::i32), index(a.keys), places));
       }, false},
  };
}

/// The graph of attention under the mask, and the graph of the mask alone as the output "visible".
struct MaskedGraphs {
  Graph attention, predicate;
};

MaskedGraphs graphs_of(const MakePredicate& make) {
  MaskedGraphs graphs;
  const Attention a(graphs.attention);
  a.output(mask(a.scores(), make(graphs.attention, a)));
  graphs.attention.finish();
  INFO(graphs.attention.problem().view());
  REQUIRE(graphs.attention.problem().empty());
  const Attention b(graphs.predicate);
  const Value visible = make(graphs.predicate, b);
  graphs.predicate.output("visible", visible, dims_of(visible), Here{});
  graphs.predicate.finish();
  graphs.attention = expanded(graphs.attention);
  return graphs;
}

int softmax_of(const Graph& graph) {
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (std::holds_alternative<Softmax>(graph.node(id).op)) return id;
  return -1;
}

/// A mask, extents and inputs, with what the interpreter says is visible.
struct Scene {
  Graph graph;
  Shape extents;
  Arrays inputs;
  Array visible;

  Scene(const MakePredicate& make, const Shape& given, std::uint64_t seed = 1) {
    const MaskedGraphs graphs = graphs_of(make);
    graph = graphs.attention;
    Shape narrow = given;
    narrow.insert({{"depth", 1}, {"value_depth", 1}});
    const FilledShape filled = fill_shape(graph, narrow);
    REQUIRE(filled.problem.empty());
    extents = filled.extents;
    inputs = random_inputs(graph, extents, seed);
    Interpretation result = interpret(graphs.predicate, inputs);
    INFO(result.problem);
    REQUIRE(result.problem.empty());
    visible = result.outputs.at("visible");
  }

  std::int64_t extent(Name dim) const { return extents.find(dim)->second; }
};

/// How many elements of a box are visible, one by one.
std::int64_t brute_count(const Scene& scene, const ScoreMask& mask, const IndexBox& box) {
  std::int64_t outside = 0, count = 0;
  for (int i = 0; i < mask.outer().size(); ++i) outside += box[static_cast<std::size_t>(i) + 2].begin * scene.visible.stride(mask.outer()[i]);
  const std::int64_t row = scene.visible.stride("queries"), column = scene.visible.stride("keys");
  for (std::int64_t i = box[0].begin; i < box[0].end; ++i)
    for (std::int64_t j = box[1].begin; j < box[1].end; ++j)
      count += scene.visible.data[static_cast<std::size_t>(outside + i * row + j * column)] != 0;
  return count;
}

void for_each_box(const Scene& scene, const ScoreMask& mask, std::int64_t rows, std::int64_t columns, const std::function<void(const IndexBox&)>& visit) {
  std::vector<IndexBox> places{{{0, 0}, {0, 0}}};
  for (const Name dim : mask.outer()) {
    std::vector<IndexBox> more;
    for (const IndexBox& place : places)
      for (std::int64_t i = 0; i < scene.extent(dim); ++i) {
        more.push_back(place);
        more.back().push_back({i, i + 1});
      }
    places = more;
  }
  for (IndexBox box : places)
    for (std::int64_t i = 0; i < scene.extent("queries"); i += rows)
      for (std::int64_t j = 0; j < scene.extent("keys"); j += columns) {
        box[0] = {i, std::min(i + rows, scene.extent("queries"))};
        box[1] = {j, std::min(j + columns, scene.extent("keys"))};
        visit(box);
      }
}

}  // namespace

TEST_CASE("visible pairs are counted as the interpreter sees them", "[visible]") {
  for (const MaskCase& mask : mask_cases())
    for (const Shape& shape : {Shape{}, Shape{{"queries", 1}, {"keys", 130}}, Shape{{"queries", 150}, {"keys", 131}}, Shape{{"queries", 0}}, Shape{{"keys", 0}}}) {
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

TEST_CASE("what is said of a block holds for each of its pairs", "[visible]") {
  for (const MaskCase& mask_case : mask_cases()) {
    const Scene scene(mask_case.predicate, {{"queries", 45}, {"keys", 67}});
    const ScoreMask mask(scene.graph, softmax_of(scene.graph), "queries", scene.extents, scene.inputs);
    std::int64_t unsound = 0, inexact = 0, miscounted = 0;
    for (const auto& [rows, columns] : {std::pair{1, 1}, std::pair{6, 16}, std::pair{7, 64}, std::pair{48, 5}})
      for_each_box(scene, mask, rows, columns, [&](const IndexBox& box) {
        const std::int64_t visible = brute_count(scene, mask, box), all = box[0].size() * box[1].size();
        for (const Insight insight : {Insight::kernel, Insight::ranges}) {
          const Seen seen = mask.over(box, insight);
          unsound += (seen.certainly && visible < all) || (!seen.possibly && visible > 0);
          inexact += seen.certainly != (visible == all) || seen.possibly != (visible > 0);
        }
        miscounted += mask.count(box).part != visible;
      });
    INFO(mask_case.name);
    CHECK(unsound == 0);
    CHECK(miscounted == 0);
    if (mask_case.is_exact) CHECK(inexact == 0);
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

namespace {

/// What the walk of a schedule computes, from the visibility of single pairs: its meaning in plain loops.
std::int64_t brute_blocks(const Scene& scene, const ScoreMask& mask, const KeyWalk& walk) {
  std::int64_t visited = 0;
  const std::int64_t keys = scene.extent("keys");
  for_each_box(scene, mask, walk.query_group, walk.edge_tile, [&](const IndexBox& box) {
    const std::int64_t first = box[1].begin / walk.key_tile * walk.key_tile, tile = box[0].begin / walk.query_tile * walk.query_tile;
    IndexBox large = box;
    large[0] = {tile, std::min(tile + walk.query_tile, scene.extent("queries"))};
    large[1] = {first, first + walk.key_tile};
    const bool is_large = large[1].end <= keys && brute_count(scene, mask, large) == large[0].size() * large[1].size();
    visited += is_large || brute_count(scene, mask, box) > 0;
  });
  return visited;
}

}  // namespace

TEST_CASE("visited blocks are those with something visible", "[visible]") {
  for (const MaskCase& mask_case : mask_cases())
    for (const auto& [queries, keys] : {std::pair{45, 67}, std::pair{48, 64}, std::pair{1, 300}, std::pair{130, 5}}) {
      const Scene scene(mask_case.predicate, {{"queries", queries}, {"keys", keys}});
      const KeyWalk walk{softmax_of(scene.graph), "queries", {"batch", "heads"}, 12, 3, 32, 8};
      const ScoreMask mask(scene.graph, walk.node, "queries", scene.extents, scene.inputs);
      const Portion blocks = count_visited_blocks(scene.graph, walk, scene.extents, scene.inputs);
      std::int64_t walks = 1;
      for (const Name dim : walk.batch.without(mask.outer())) walks *= scene.extent(dim);
      INFO(mask_case.name << ", " << queries << " x " << keys);
      CHECK(blocks.whole == 2 * 3 * ((queries + 2) / 3) * ((keys + 7) / 8));
      CHECK(blocks.part <= blocks.whole);
      if (mask_case.is_exact) CHECK(blocks.part == walks * brute_blocks(scene, mask, walk));
      else CHECK(blocks.part >= walks * brute_blocks(scene, mask, walk));
    }
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

TEST_CASE("the listed blocks are those that are counted, and hold all that is visible", "[visible]") {
  for (const MaskCase& mask_case : mask_cases()) {
    const std::int64_t queries = 45, keys = 67;
    const Scene scene(mask_case.predicate, {{"queries", queries}, {"keys", keys}});
    const KeyWalk walk{softmax_of(scene.graph), "queries", {"batch", "heads"}, 12, 3, 32, 8};
    const ScoreMask mask(scene.graph, walk.node, "queries", scene.extents, scene.inputs);
    std::int64_t blocks = 0, twice = 0, missed = 0, untrue = 0;
    for_each_box(scene, mask, queries, keys, [&](const IndexBox& all) {
      std::vector<int> covered(static_cast<std::size_t>(queries * keys), 0);
      for_each_visited_block(mask, walk, queries, keys, {all.begin() + 2, all.end()}, [&](const VisitedBlock& block) {
        blocks += (block.queries.size() + 2) / 3 * ((block.keys.size() + 7) / 8);
        for (std::int64_t i = block.queries.begin; i < block.queries.end; ++i)
          for (std::int64_t j = block.keys.begin; j < block.keys.end; ++j) twice += ++covered[static_cast<std::size_t>(i * keys + j)] > 1;
        IndexBox box = all;
        box[0] = block.queries;
        box[1] = block.keys;
        untrue += block.is_whole && brute_count(scene, mask, box) != block.queries.size() * block.keys.size();
      });
      mask.each_visible(all, [&](const IndexRange& rows, const IndexRange& columns) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i)
          for (std::int64_t j = columns.begin; j < columns.end; ++j) missed += covered[static_cast<std::size_t>(i * keys + j)] == 0;
      });
    });
    std::int64_t walks = 1;
    for (const Name dim : walk.batch.without(mask.outer())) walks *= scene.extent(dim);
    INFO(mask_case.name);
    CHECK(walks * blocks == count_visited_blocks(scene.graph, walk, scene.extents, scene.inputs).part);
    CHECK(twice == 0);
    CHECK(missed == 0);
    CHECK(untrue == 0);
  }
}

TEST_CASE("where only reals of a tensor or computed elements decide, nothing is known of whole blocks", "[visible]") {
  for (const MaskCase& mask_case : mask_cases()) {
    const Scene scene(mask_case.predicate, {});
    const ScoreMask mask(scene.graph, softmax_of(scene.graph), "queries", scene.extents, scene.inputs);
    const bool is_unknown = mask_case.name == "a table of reals" || mask_case.name == "positions from a table";
    INFO(mask_case.name);
    CHECK(mask.may_know_whole_blocks() == !is_unknown);
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

TEST_CASE("where boxes are too many to look at, the portion is right within its doubt", "[visible]") {
  const auto is_in = [](std::int64_t row, std::int64_t column) { return (row / 3 + column / 5) % 4 == 0 || row + 40 < column; };
  const IndexBox all{{0, 97}, {0, 113}};
  std::int64_t right = 0;
  for (std::int64_t r = 0; r < 97; ++r)
    for (std::int64_t c = 0; c < 113; ++c) right += is_in(r, c);
  BoxProperty property;
  property.size = [](const IndexBox& box) { return box[0].size() * box[1].size(); };
  property.count = [&](const IndexBox& box) {
    std::int64_t count = 0;
    for (std::int64_t r = box[0].begin; r < box[0].end; ++r)
      for (std::int64_t c = box[1].begin; c < box[1].end; ++c) count += is_in(r, c);
    return count;
  };
  property.known = [&](const IndexBox& box) { return box[0].end + 40 <= box[1].begin ? 1 : -1; };
  property.sides = {6, 16};
  CHECK(portion_of(all, property).part == right);
  CHECK(portion_of(all, property).doubt == 0);
  for (const std::size_t most_open : {std::size_t{0}, std::size_t{1}, std::size_t{20}, std::size_t{100}}) {
    const Portion portion = portion_of(all, property, most_open);
    CHECK(portion.whole == 97 * 113);
    CHECK(portion.doubt > 0);
    CHECK(std::abs(portion.part - right) <= portion.doubt);
  }
}

}  // namespace attune
