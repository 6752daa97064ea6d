/// The blocks that kernels of the masks visit: those with something visible, and what is said of a block holds for each of its pairs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/codegen/kernel_case.h"
#include "tests/dsl/values.h"
#include "tests/variant_graph.h"
#include "tools/measure/score_mask.h"
#include "tools/measure/visible.h"

namespace attune {
namespace {

/// A variant under a mask, with inputs that make one worth analysing.
struct MaskScene {
  std::string variant;
  std::vector<std::string> settings = {};
  double allowed = 1;                        ///< visited blocks, of those with something visible
  std::function<void(Arrays&)> arrange = {};  ///< changes random inputs
  bool is_poisoned = false;                   ///< a kernel is tried, too: those of one kind of predicate need one
};

/// Sets every element of an input by its place along the last dim and the one before it.
void set_elements(Array& array, const std::function<double(std::int64_t row, std::int64_t column)>& element) {
  const std::int64_t columns = array.extents.back(), rows = array.extents.size() > 1 ? array.extents[array.extents.size() - 2] : 1;
  for (std::size_t n = 0; n < array.data.size(); ++n) {
    const auto place = static_cast<std::int64_t>(n);
    array.data[n] = element(place / columns % rows, place % columns);
  }
}

std::vector<MaskScene> mask_scenes() {
  const auto documents = [](Arrays& in) { set_elements(in.at("ids"), [](auto, auto i) { return i / 41; }); };
  const auto offsets = [](Arrays& in) { in.at("offsets").data = {0, 17, 60, 61, 150, 200, 260}; };
  const auto rectangles = [](const char* name) {
    return [name](Arrays& in) { set_elements(in.at(name), [](auto i, auto j) { return i / 50 == j / 50; }); };
  };
  return {
      {"causal"},
      {"causal_offset"},
      {"sliding_window", {"window=19"}},
      {"window", {"left=30", "right=7"}},
      {"window", {"left=-1", "right=7", "alignment=bottom_right"}},
      {"window", {"left=40", "right=-1"}},
      {"window", {"left=60", "right=60", "dilation=7"}},
      {"window", {"left=90", "right=0", "dilation=40", "alignment=bottom_right"}, 1, {}, true},
      {"sinks", {"sinks=4", "window=30"}},
      {"prefix_lm"},
      {"chunked", {"chunk=37"}},
      {"chunked", {"chunk=37", "causal=true"}},
      {"chunked", {"chunk=20", "before=true"}},
      {"padded"},
      {"strided", {"stride=40"}, 1.1},
      {"block_diffusion", {"block=9"}, 1.1},
      {"global_window", {"window=20"}, 1.1, [](Arrays& in) { set_elements(in.at("global"), [](auto, auto i) { return i % 97 == 5; }); }},
      {"neighbourhood", {"width=50", "kernel_width=9", "kernel_height=3"}, 1.1, {}, true},
      {"neighbourhood", {"width=16", "kernel_width=5", "kernel_height=5"}, 1.1},
      {"document", {}, 1.1, documents},
      {"document", {"causal=true"}, 1.1, documents},
      {"document", {"causal=true", "offsets=true"}, 1.1, offsets, true},
      {"document", {"causal=true", "prefixes=true"}, 1.1,
       [documents](Arrays& in) {
         documents(in);
         set_elements(in.at("prefixes"), [](auto, auto i) { return i / 41 > 3 ? 3 : 0; });
       }},
      {"tree", {}, 1.1},
      {"chosen_blocks", {"query_block=24", "key_block=64"}, 1.1, {}, true},
      {"chosen_blocks", {"query_block=24", "key_block=32", "is_mask=true", "causal=true"}, 1.1},
      {"top_blocks", {"count=3", "key_block=32", "query_block=24"}, 1.1},
      {"top_blocks", {"count=2", "key_block=64", "query_block=24", "causal=false"}, 1.1},
      {"masked", {}, 1.1, rectangles("mask")},
      {"masked", {"heads=true", "batch=false"}, 1.1, rectangles("mask")},
      {"masked", {"queries=false"}, 1.1, [](Arrays& in) { set_elements(in.at("mask"), [](auto, auto j) { return j / 70 % 2; }); }},
  };
}

/// A scene with extents and inputs, and what the interpreter's softmax weighs above zero: of equal scores all that is visible.
struct Sight {
  Graph graph;
  int softmax = -1;
  Shape extents;
  Arrays inputs;
  Array weights;
  Names dims;  ///< of the weights

  Sight(const MaskScene& scene, std::int64_t queries, std::int64_t keys) : graph(expanded(variant_graph(scene.variant, scene.settings))) {
    for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
      if (std::holds_alternative<Softmax>(graph.node(id).op)) softmax = id;
    Shape given = {{"batch", 1}, {"heads", 2}, {"queries", queries}, {"depth", 1}, {"value_depth", 1}};
    const std::map<std::string_view, std::int64_t> others = {
        {"keys", keys}, {"guesses", 9}, {"query_blocks", queries / 20}, {"key_blocks", keys / 30}, {"choices", 2}};
    for (const auto& [dim, extent] : others)
      if (std::ranges::any_of(graph.dim_infos(), [&](const DimInfo& info) { return info.name() == dim && info.derivation.formula == Formula::free; }))
        given[std::string(dim)] = extent;
    const FilledShape filled = fill_shape(graph, given);
    REQUIRE(filled.problem == "");
    extents = filled.extents;
    inputs = random_inputs(graph, extents, 1);
    if (scene.arrange) scene.arrange(inputs);
    std::ranges::fill(inputs.at("q").data, 0.0);
    const WalkedGraph walked = walk(graph, inputs, 1, [&](const Evaluated& at) {
      if (at.node == softmax) weights = at.lanes[0];
    });
    REQUIRE(walked.problem == "");
    dims = graph.node(softmax).type.dims;
  }

  std::int64_t extent(Name dim) const { return extents.find(dim)->second; }
  std::int64_t visible_in(std::int64_t head, const IndexRange& rows, const IndexRange& columns) const {
    const std::int64_t row = weights.stride("queries"), column = weights.stride("keys"), outside = head * weights.stride("heads");
    std::int64_t count = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = columns.begin; j < columns.end; ++j) count += weights.data[static_cast<std::size_t>(outside + i * row + j * column)] > 0;
    return count;
  }
};

std::string title_of(const MaskScene& scene) {
  std::string title = scene.variant;
  for (const std::string& setting : scene.settings) title += " " + setting;
  return title;
}

using VisitBlock = std::function<void(std::int64_t head, const IndexRange& queries, const IndexRange& keys)>;

void for_each_block(const Sight& sight, std::int64_t rows, std::int64_t columns, const VisitBlock& visit) {
  const std::int64_t queries = sight.extent("queries"), keys = sight.extent("keys");
  for (std::int64_t head = 0; head < sight.extent("heads"); ++head)
    for (std::int64_t i = 0; i < queries; i += rows)
      for (std::int64_t j = 0; j < keys; j += columns) visit(head, {i, std::min(i + rows, queries)}, {j, std::min(j + columns, keys)});
}

}  // namespace

TEST_CASE("what is said of a block of a variant's mask holds for each of its pairs", "[blocks]") {
  for (const MaskScene& scene : mask_scenes()) {
    const Sight sight(scene, 130, 150);
    const ScoreMask mask(sight.graph, sight.softmax, "queries", sight.extents, sight.inputs);
    std::int64_t unsound = 0;
    for (const auto& [rows, columns] : {std::pair{1, 1}, {6, 16}, {7, 64}, {48, 5}})
      for_each_block(sight, rows, columns, [&](std::int64_t head, const IndexRange& i, const IndexRange& j) {
        IndexBox box = {i, j};
        for (const Name dim : mask.outer()) box.push_back(dim == "heads" ? IndexRange{head, head + 1} : IndexRange{0, 1});
        const std::int64_t visible = sight.visible_in(head, i, j);
        for (const Insight insight : {Insight::kernel, Insight::ranges}) {
          const Seen seen = mask.over(box, insight);
          unsound += (seen.certainly && visible < i.size() * j.size()) || (!seen.possibly && visible > 0);
        }
      });
    INFO(title_of(scene));
    CHECK(unsound == 0);
  }
}

TEST_CASE("a variant's kernel visits the blocks with something visible, and few beside them", "[blocks]") {
  for (const MaskScene& scene : mask_scenes())
    for (const auto& [queries, keys] : {std::pair{260, 260}, {200, 331}}) {
      const Sight sight(scene, queries, keys);
      const KeyWalk walk{sight.softmax, "queries", {"batch", "heads"}, 24, 6, 64, 16};
      const Portion visited = count_visited_blocks(sight.graph, walk, sight.extents, sight.inputs);
      std::int64_t least = 0;
      for_each_block(sight, walk.query_group, walk.edge_tile,
                     [&](std::int64_t head, const IndexRange& i, const IndexRange& j) { least += sight.visible_in(head, i, j) > 0; });
      INFO(title_of(scene) << ", " << queries << " x " << keys << ": " << visited.part << " of " << visited.whole << " visited, something visible in "
                           << least);
      CHECK(visited.doubt == 0);
      CHECK(least > 0);
      CHECK(visited.part >= least);
      CHECK(static_cast<double>(visited.part) <= scene.allowed * static_cast<double>(least));
    }
}

TEST_CASE("kernels of masks do not read keys and values of blocks that nothing sees", "[blocks]") {
  std::size_t poisoned = 0;
  for (const MaskScene& scene : mask_scenes()) {
    if (!scene.is_poisoned) continue;
    Sight sight(scene, 100, 900);
    const std::vector<std::string> known = known_extents(variant_graph(scene.variant, scene.settings), sight.inputs);
    const auto kernel_of = [&](const char* schedule) { return KernelCase(scene.variant, {.settings = scene.settings, .schedule = schedule, .set = known}); };
    // tiles of the machine, and tiles of all queries, for which a mask may show no block wholly
    const KernelCase kernel = kernel_of("online_softmax,edge_tile=64"), other = kernel_of("online_softmax,query_tile=192,key_tile=256,edge_tile=64");
    const auto clean = kernel.outputs(sight.extents, sight.inputs), other_clean = other.outputs(sight.extents, sight.inputs);
    const std::int64_t keys = sight.extent("keys");
    for_each_block(sight, sight.extent("queries"), 64, [&](std::int64_t head, const IndexRange& i, const IndexRange& j) {
      if (sight.visible_in(head, i, j) > 0) return;
      for (const char* tensor : {"k", "v"})
        for (std::int64_t key = j.begin; key < j.end; ++key) sight.inputs.at(tensor).data[static_cast<std::size_t>(head * keys + key)] = quiet_nan;
      ++poisoned;
    });
    INFO(title_of(scene));
    CHECK(kernel.outputs(sight.extents, sight.inputs) == clean);
    CHECK(other.outputs(sight.extents, sight.inputs) == other_clean);
  }
  CHECK(poisoned > 30);
}

}  // namespace attune
