#include "tools/picture/mask_picture.h"

#include <algorithm>
#include <cmath>

#include "tools/picture/frame.h"

namespace attune {
namespace {

constexpr std::int64_t most_cells = 1024;
constexpr double legend_step = 18, swatch = 12;

/// A panel with its place in the picture.
struct PlacedMask {
  const MaskPanel& panel;
  GridShape shape;
  MaskLayers layers;
  int cell;
  Side rows, columns;
  double width, height;  // with all that stands around
};

PlacedMask placed(const MaskPanel& panel, double pixels_of_longer) {
  const std::int64_t longer = std::max(panel.query_count, panel.key_count), step = (longer + most_cells - 1) / most_cells;
  const GridShape shape{panel.query_count, panel.key_count, std::max<std::int64_t>(step, 1), std::max<std::int64_t>(step, 1)};
  PlacedMask mask{panel, shape, panel.layers(shape), 1, {}, {}, 0, 0};
  mask.cell = std::clamp(static_cast<int>(pixels_of_longer / static_cast<double>(std::max<std::int64_t>(longer, 1))), 1, 24);
  const double pixels = mask.cell / static_cast<double>(shape.row_step);
  mask.rows = {panel.queries, {}, panel.query_count, pixels};
  mask.columns = {panel.keys, {}, panel.key_count, pixels};
  mask.width = mask.rows.depth(false) + static_cast<double>(shape.cell_columns() * mask.cell);
  mask.height = (panel.title.empty() ? 0 : note_size + gap) + static_cast<double>(panel.figures.size()) * (note_size + gap) +
                mask.columns.depth(true) + static_cast<double>(shape.cell_rows() * mask.cell);
  mask.width = std::max(mask.width, text_width(panel.title, note_size));
  for (const std::string& line : panel.figures) mask.width = std::max(mask.width, text_width(line, note_size));
  return mask;
}

Colour colour_of(const MaskLayers& layers, std::int64_t row, std::int64_t column) {
  const double visible = layers.visible.share(row, column);
  if (!layers.blocks) return mixed(paper, dark_blue, visible);
  const double visited = layers.blocks->visited.share(row, column), whole = layers.blocks->whole.share(row, column);
  // pairs are visible in whole blocks, visible in others, hidden in others, or in no block
  const auto sum = [&](double p, double orange, double sky, double dark) {
    return p * (1 - visited) + orange * (visited - visible) + sky * (visible - whole) + dark * whole;
  };
  return {sum(paper.red, light_orange.red, sky_blue.red, dark_blue.red), sum(paper.green, light_orange.green, sky_blue.green, dark_blue.green),
          sum(paper.blue, light_orange.blue, sky_blue.blue, dark_blue.blue)};
}

/// Only where a block is large enough that its lines do not hide what is in it.
void draw_outlines(Canvas& canvas, const PlacedMask& mask, double left, double top) {
  constexpr double least_side = 8;
  for (const Rectangle& block : mask.layers.blocks->outlines) {
    const double pixels = mask.rows.pixels;
    const Rectangle place{left + block.left * pixels, top + block.top * pixels, block.width * pixels, block.height * pixels};
    if (place.width < least_side || place.height < least_side) continue;
    canvas.line(place.left, place.bottom() - 0.5, place.right(), place.bottom() - 0.5, hair);
    canvas.line(place.right() - 0.5, place.top, place.right() - 0.5, place.bottom(), hair);
  }
}

void draw_panel(Canvas& canvas, const PlacedMask& mask, double left, double top) {
  double bottom = top - gap;
  if (!mask.panel.title.empty()) canvas.text(mask.panel.title, left, bottom += note_size + gap, note_size, ink);
  for (const std::string& line : mask.panel.figures) canvas.text(line, left, bottom += note_size + gap, note_size, faint_ink);
  const double matrix_left = std::ceil(left + mask.rows.depth(false)), matrix_top = std::ceil(bottom + gap + mask.columns.depth(true));
  canvas.cells(static_cast<int>(matrix_left), static_cast<int>(matrix_top), mask.cell, mask.shape.cell_rows(), mask.shape.cell_columns(),
               [&](std::int64_t row, std::int64_t column) { return colour_of(mask.layers, row, column); });
  if (mask.layers.blocks) draw_outlines(canvas, mask, matrix_left, matrix_top);
  draw_sides(canvas, {matrix_left, matrix_top, mask.columns.length(), mask.rows.length()}, mask.rows, mask.columns);
}

struct LegendLine {
  Colour colour;
  const char* words;
};

std::vector<LegendLine> legend_of(const MaskPicture& picture, const std::vector<PlacedMask>& masks) {
  if (!picture.has_legend) return {};
  const bool has_blocks = std::ranges::any_of(masks, [](const PlacedMask& mask) { return mask.layers.blocks.has_value(); });
  if (!has_blocks) return {{dark_blue, "visible"}, {paper, "hidden"}};
  return {{dark_blue, "visible, in a block that is visible whole"},
          {sky_blue, "visible, in a block where the mask is asked"},
          {light_orange, "hidden, but computed with its block"},
          {paper, "hidden: the block is skipped"}};
}

}  // namespace

Result<void> draw(const MaskPicture& picture, const std::filesystem::path& path, const std::string& who) {
  std::vector<PlacedMask> masks;
  double width = 0, height = 0;
  for (const MaskPanel& panel : picture.panels) {
    masks.push_back(placed(panel, picture.matrix_pixels));
    width = std::max(width, masks.back().width + 2 * margin);
    height = std::max(height, masks.back().height + margin);
  }
  const int count = static_cast<int>(masks.size()), columns = columns_of_panels(count, width, height);
  const std::vector<LegendLine> legend = legend_of(picture, masks);
  double legend_width = text_width(picture.title, title_size);
  for (const LegendLine& line : legend) legend_width = std::max(legend_width, swatch + gap + text_width(line.words, note_size));
  const double head = margin + (picture.title.empty() ? 0 : title_size + 2 * gap),
               foot = legend.empty() ? 0 : static_cast<double>(legend.size()) * legend_step + margin;
  const double full_width = std::max(columns * width, legend_width + 2 * margin),
               full_height = head + (count + columns - 1) / columns * height + foot;
  if (std::string problem = canvas_problem(full_width, full_height); !problem.empty()) return Error{who + ": " + problem};
  Canvas canvas(full_width, full_height);
  canvas.text(picture.title, margin, margin + title_size, title_size, ink);
  for (int i = 0; i < count; ++i) draw_panel(canvas, masks[static_cast<std::size_t>(i)], margin + i % columns * width, head + i / columns * height);
  double top = full_height - foot;
  for (const LegendLine& line : legend) {
    canvas.fill({margin, top, swatch, swatch}, line.colour);
    canvas.frame({margin, top, swatch, swatch}, hair);
    canvas.text(line.words, margin + swatch + gap, top + swatch - 1, note_size, ink);
    top += legend_step;
  }
  return canvas.write_png(path, who);
}

}  // namespace attune
