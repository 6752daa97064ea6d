#include "codegen/steps/stage_key.h"

#include <catch2/catch.hpp>

#include "tests/codegen/planned.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

/// `causal` in other words.
struct Diagonal {
  static constexpr std::string_view name = "diagonal";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(Graph& g) const {
    auto [n, head, row, column, width, out_width] = g.dims("n", "head", "row", "column", "width", "out_width");
    Value x = g.input("x", {n, head, row, width}), y = g.input("y", {n, head, column, width}), z = g.input("z", {n, head, column, out_width});
    Value scores = mask(scale(matmul(x, y, width), 1 / sqrt(extent(width))), index(row) >= index(column));
    g.output("result", matmul(softmax(scores, column), z, column), {n, head, row, out_width});
  }
};

/// The keys of the graph's stages, one a stage.
std::vector<StageKey> keys_of(const Graph& graph, const KnownExtents& known = {}, Element reals = Element::f32) {
  const Planned planned(graph, {{known, reals, {}}});
  std::vector<StageKey> keys;
  for (const Step& step : planned.plan.steps) keys.push_back(step.key);
  return keys;
}

std::vector<StageKey> keys_of(const std::string& variant, std::vector<std::string> settings = {}, const KnownExtents& known = {},
                              Element reals = Element::f32) {
  return keys_of(variant_graph(variant, settings), known, reals);
}

}  // namespace

TEST_CASE("a stage's key does not depend on names", "[tuned]") {
  const std::vector<StageKey> causal = keys_of("causal"), diagonal = keys_of(build(Diagonal{}));
  REQUIRE(causal.size() == 1);
  CHECK(causal == diagonal);
  CHECK(causal[0].stage.starts_with("online_softmax-"));
  CHECK(causal[0].types == "f32 f32 f32 -> f32");
  CHECK(causal[0].extents.empty());
}

TEST_CASE("a stage's key has the buckets of what is known and no other numbers", "[tuned]") {
  const StageKey unknown = keys_of("causal")[0], known = keys_of("causal", {}, {{"depth", 72}})[0];
  CHECK(known.stage == unknown.stage);
  CHECK(known.extents == std::map<std::string, std::int64_t>{{"d3", 64}});
  const StageKey narrow = keys_of("sliding_window", {"window=300"})[0], wide = keys_of("sliding_window", {"window=1024"})[0];
  CHECK(narrow.stage == wide.stage);
  CHECK(narrow.extents == std::map<std::string, std::int64_t>{{"n1", 256}, {"n0", 0}});
  CHECK(wide.extents.at("n1") == 1024);
}

TEST_CASE("stages that compute or store something else have other keys", "[tuned]") {
  CHECK(keys_of("causal")[0].stage != keys_of("scaled_dot_product")[0].stage);
  CHECK(keys_of("causal")[0].stage != keys_of("causal_offset")[0].stage);
  const StageKey bf16 = keys_of("causal", {}, {}, Element::bf16)[0];
  CHECK(bf16.stage == keys_of("causal")[0].stage);
  CHECK(bf16.types == "bf16 bf16 bf16 -> bf16");
}

TEST_CASE("every stage of every variant has a key that is made of its body", "[tuned]") {
  for (const std::string_view variant : names_of_variants())
    for (const StageKey& key : keys_of(std::string(variant))) {
      CAPTURE(variant, key.body);
      CHECK(key.stage == stage_name(key.stage.substr(0, key.stage.rfind('-')), key.body));
    }
}

}  // namespace attune
