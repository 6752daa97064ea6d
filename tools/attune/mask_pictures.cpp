#include "tools/attune/mask_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "codegen/plan/score_masks.h"

namespace attune {
namespace {

constexpr std::size_t most_panels = 16;
constexpr double most_pairs = 0x1p32;  // half a minute of work where each has to be looked at

/// The mask of one softmax, or of weights that none makes, in one call.
struct SoftmaxMask {
  std::shared_ptr<const ScoreMask> mask;
  Names scores;
  Name queries, keys;
  std::int64_t query_count = 0, key_count = 0;
  std::string where, schedule;  // where in the kernel, and by what it is computed
  std::optional<KeyWalk> walk;
};

std::int64_t extent_of(const Shape& extents, Name dim) { return extents.find(dim)->second; }

std::string drawn_schedule_text(const StageReport& stage, const Shape& extents, bool is_alone, std::size_t number) {
  const SizeClass size = stage.sizes.size_of(extents);
  return fmt::format("{}{}{}", is_alone ? "" : fmt::format("stage {}: ", number + 1), stage.schedules.at(size).name,
                     stage.sizes.entries.size() == 1 ? "" : fmt::format(" for {} calls", name_of(size)));
}

std::vector<SoftmaxMask> masks_of(const KernelReport& report, const Shape& extents, const Arrays& inputs) {
  const Graph& graph = report.staged;
  std::vector<SoftmaxMask> masks;
  const std::vector<int> nodes = nodes_with_masks(graph);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const int id = nodes[n];
    if (attune::masks_of(graph, id).predicates.empty()) continue;
    SoftmaxMask& mask = masks.emplace_back();
    mask.scores = graph.node(id).type.dims;
    mask.keys = masked_scores(graph, id).keys;
    mask.queries = queries_of(graph, id, mask.keys);
    mask.where = fmt::format("{} {}", std::holds_alternative<Softmax>(graph.node(id).op) ? "softmax" : "weights", n + 1);
    for (std::size_t number = 0; number < report.stages.size(); ++number) {
      const StageReport& stage = report.stages[number];
      if (!stage.walk || stage.walk->node != id) continue;
      mask.walk = walk_of(stage, extents);
      mask.queries = stage.walk->queries;
      mask.schedule = drawn_schedule_text(stage, extents, report.stages.size() == 1, number);
    }
    mask.mask = std::make_shared<ScoreMask>(graph, id, mask.queries, extents, inputs);
    mask.query_count = mask.scores.has(mask.queries) ? extent_of(extents, mask.queries) : 1;
    mask.key_count = extent_of(extents, mask.keys);
  }
  if (nodes.size() == 1)
    for (SoftmaxMask& mask : masks) mask.where.clear();
  return masks;
}

/// "batch 0; the same along heads": of the other dims.
std::string place_text(const SoftmaxMask& mask, const IndexBox& outer) {
  std::string text = mask.where;
  for (int i = 0; i < mask.mask->outer().size(); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", mask.mask->outer()[i], outer[static_cast<std::size_t>(i)].begin);
  const Names same = mask.scores.without({mask.queries, mask.keys}).without(mask.mask->outer());
  if (!same.empty()) text += fmt::format("{}the same along {}", text.empty() ? "" : "; ", fmt::join(same.begin(), same.end(), ", "));
  return text;
}

MaskLayers layers_of(const SoftmaxMask& mask, const IndexBox& outer, bool has_blocks, const GridShape& shape) {
  MaskLayers layers{Grid(shape), std::nullopt};
  IndexBox box{{0, mask.query_count}, {0, mask.key_count}};
  box.insert(box.end(), outer.begin(), outer.end());
  mask.mask->each_visible(
      box, [&](const IndexRange& queries, const IndexRange& keys) { layers.visible.cover(queries.begin, queries.end, keys.begin, keys.end); });
  if (!mask.walk || !has_blocks) return layers;
  BlockLayers& blocks = layers.blocks.emplace(BlockLayers{Grid(shape), Grid(shape), {}});
  for_each_visited_block(*mask.mask, *mask.walk, mask.query_count, mask.key_count, outer, [&](const VisitedBlock& block) {
    const IndexRange &queries = block.queries, &keys = block.keys;
    blocks.visited.cover(queries.begin, queries.end, keys.begin, keys.end);
    if (block.is_whole) blocks.whole.cover(queries.begin, queries.end, keys.begin, keys.end);
    blocks.outlines.push_back(
        {static_cast<double>(keys.begin), static_cast<double>(queries.begin), static_cast<double>(keys.size()), static_cast<double>(queries.size())});
  });
  return layers;
}

std::string blocks_text(const SoftmaxMask& mask, const IndexBox& outer) {
  const KeyWalk& walk = *mask.walk;
  const auto blocks_in = [&](std::int64_t queries, std::int64_t keys) {
    return ((queries + walk.query_group - 1) / walk.query_group) * ((keys + walk.edge_tile - 1) / walk.edge_tile);
  };
  std::int64_t visited = 0, all = 0;
  for_each_visited_block(*mask.mask, walk, mask.query_count, mask.key_count, outer,
                         [&](const VisitedBlock& block) { visited += blocks_in(block.queries.size(), block.keys.size()); });
  for (std::int64_t query = 0; query < mask.query_count; query += walk.query_tile)
    for (std::int64_t key = 0; key < mask.key_count; key += walk.key_tile)
      all += blocks_in(std::min(walk.query_tile, mask.query_count - query), std::min(walk.key_tile, mask.key_count - key));
  return fmt::format("{}: {} of {} blocks of {} {} x {} {} visited ({:.1f} %)", mask.schedule, visited, all,
                     std::min(walk.query_group, mask.query_count), mask.queries, std::min(walk.edge_tile, mask.key_count), mask.keys,
                     all == 0 ? 100.0 : 100.0 * static_cast<double>(visited) / static_cast<double>(all));
}

MaskPanel panel_of(const SoftmaxMask& mask, const IndexBox& outer, bool has_blocks) {
  MaskPanel panel;
  panel.title = place_text(mask, outer);
  panel.queries = mask.queries;
  panel.keys = mask.keys;
  panel.query_count = mask.query_count;
  panel.key_count = mask.key_count;
  panel.layers = [mask, outer, has_blocks](const GridShape& shape) { return layers_of(mask, outer, has_blocks, shape); };
  const std::int64_t all = mask.query_count * mask.key_count,
                     visible = panel.layers({mask.query_count, mask.key_count, mask.query_count, mask.key_count}).visible.covered();
  panel.figures = {fmt::format("{} of {} pairs visible ({:.1f} %)", visible, all, 100.0 * static_cast<double>(visible) / static_cast<double>(all))};
  if (!has_blocks) return panel;
  panel.figures.push_back(mask.walk ? blocks_text(mask, outer) : mask.schedule.empty() ? "no stage is attention in tiles: every pair is computed" : mask.schedule + ": every pair is computed");
  return panel;
}

/// Calls visit(place) with each place in the mask's outer dims that is asked for, until it gives false.
template <class Visit>
void for_each_place(const SoftmaxMask& mask, const Shape& extents, const Shape& chosen, bool is_all, Visit visit) {
  IndexBox place;
  for (const Name dim : mask.mask->outer()) {
    const auto found = chosen.find(dim);
    const std::int64_t first = found == chosen.end() ? 0 : found->second;
    place.push_back({first, first + 1});
  }
  while (visit(place) && is_all) {
    std::size_t n = place.size();
    for (; n > 0; --n) {
      IndexRange& range = place[n - 1];
      range = {range.end, range.end + 1};
      if (range.begin < extent_of(extents, mask.mask->outer()[static_cast<int>(n) - 1])) break;
      range = {0, 1};
    }
    if (n == 0) return;
  }
}

/// What --at says of dims that no score has, or positions that there are not.
std::string places_problem(const std::vector<SoftmaxMask>& masks, const Shape& extents, const Shape& chosen) {
  Names known;
  for (const SoftmaxMask& mask : masks) known.unite(mask.scores.without({mask.queries, mask.keys}));
  for (const auto& [dim, place] : chosen) {
    if (!known.has(dim)) return fmt::format("--at {}={}: no masked scores have the dim '{}'; beside queries and keys they have {}", dim, place, dim, fmt::join(known.begin(), known.end(), ", "));
    if (place >= extent_of(extents, dim)) return fmt::format("--at {}={}: there are {} positions; 0 to {} are right", dim, place, extent_of(extents, dim), extent_of(extents, dim) - 1);
  }
  return {};
}

/// What is empty, or too large to look at each pair.
std::string extent_problem(const std::vector<SoftmaxMask>& masks, const Shape& extents) {
  for (const SoftmaxMask& mask : masks) {
    const double pairs = static_cast<double>(mask.query_count) * static_cast<double>(mask.key_count);
    if (pairs > most_pairs) return fmt::format("--shape: {} x {} pairs are too many to draw; up to {:.0f} are drawn", mask.query_count, mask.key_count, most_pairs);
    for (const Name dim : mask.scores)
      if (extent_of(extents, dim) == 0) return fmt::format("--shape {}=0: leaves no pairs to draw; at least 1 is right", dim);
  }
  return {};
}

}  // namespace

MaskPictureAnswer mask_picture(const Prepared& prepared, const KernelReport& report, const MaskedCall& call, const std::string& places,
                               bool has_blocks) {
  const bool is_all = places == "all";
  const ShapeAnswer chosen = is_all ? ShapeAnswer{} : parse_shape(places, "--at", "'all' or DIM=INDEX with an index");
  if (!chosen.problem.empty()) return {{}, chosen.problem};
  const Shape extents = extents_in(report, call.extents);
  const std::vector<SoftmaxMask> masks = masks_of(report, extents, call.inputs);
  if (std::string problem = extent_problem(masks, extents); !problem.empty()) return {{}, std::move(problem)};
  if (std::string problem = places_problem(masks, extents, chosen.extents); !problem.empty() && !masks.empty()) return {{}, std::move(problem)};
  const std::string& parameters = prepared.graph.parameters;
  MaskPictureAnswer answer;
  answer.picture.title = prepared.graph.name + (parameters.empty() ? "" : " (" + parameters + ")");
  std::vector<Grid> drawn;
  for (const SoftmaxMask& mask : masks) {
    const std::int64_t step = std::max<std::int64_t>(1, std::max(mask.query_count, mask.key_count) / 1024);
    const std::size_t first = drawn.size();
    for_each_place(mask, extents, chosen.extents, is_all, [&](const IndexBox& place) {
      Grid visible = layers_of(mask, place, false, {mask.query_count, mask.key_count, step, step}).visible;
      if (std::find(drawn.begin() + static_cast<std::ptrdiff_t>(first), drawn.end(), visible) != drawn.end()) return true;
      drawn.push_back(std::move(visible));
      answer.picture.panels.push_back(panel_of(mask, place, has_blocks));
      return drawn.size() <= most_panels;
    });
  }
  if (drawn.size() > most_panels) answer.problem = fmt::format("--at all: there are more than {} different masks; --at DIM=INDEX,... chooses one", most_panels);
  return answer;
}

}  // namespace attune
