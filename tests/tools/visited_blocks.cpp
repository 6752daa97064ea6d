/// What is known of blocks of queries and keys, and which of them a schedule visits.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/tools/mask_scene.h"
#include "tools/measure/visible.h"

namespace attune {

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
