#include "tests/tools/mask_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace attune {
namespace {

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

}  // namespace

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

int softmax_of(const Graph& graph) {
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (std::holds_alternative<Softmax>(graph.node(id).op)) return id;
  return -1;
}

Scene::Scene(const MakePredicate& make, const Shape& given) {
  const MaskedGraphs graphs = graphs_of(make);
  graph = graphs.attention;
  Shape narrow = given;
  narrow.insert({{"depth", 1}, {"value_depth", 1}});
  const FilledShape filled = fill_shape(graph, narrow);
  REQUIRE(filled.problem.empty());
  extents = filled.extents;
  inputs = random_inputs(graph, extents, 1);
  Interpretation result = interpret(graphs.predicate, inputs);
  INFO(result.problem);
  REQUIRE(result.problem.empty());
  visible = result.outputs.at("visible");
}

std::int64_t brute_count(const Scene& scene, const ScoreMask& mask, const IndexBox& box) {
  std::int64_t outside = 0, count = 0;
  for (int i = 0; i < mask.outer().size(); ++i) outside += box[static_cast<std::size_t>(i) + 2].begin * scene.visible.stride(mask.outer()[i]);
  const std::int64_t row = scene.visible.stride("queries"), column = scene.visible.stride("keys");
  for (std::int64_t i = box[0].begin; i < box[0].end; ++i)
    for (std::int64_t j = box[1].begin; j < box[1].end; ++j)
      count += scene.visible.data[static_cast<std::size_t>(outside + i * row + j * column)] != 0;
  return count;
}

void for_each_box(const Scene& scene, const ScoreMask& mask, std::int64_t rows, std::int64_t columns,
                  const std::function<void(const IndexBox&)>& visit) {
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

}  // namespace attune
