#include <fmt/format.h>

#include "tools/picture/mask_picture.h"

namespace attune {
namespace {

constexpr std::int64_t line_width = 80, most_lines = 60;

/// A character is about twice as high as it is wide: a cell of several keys has twice as many queries.
GridShape text_cells(const MaskPanel& panel, std::int64_t width) {
  GridShape shape{panel.query_count, panel.key_count};
  shape.column_step = std::max<std::int64_t>(1, (panel.key_count + width - 1) / width);
  shape.row_step = std::max<std::int64_t>(shape.column_step == 1 ? 1 : 2 * shape.column_step, (panel.query_count + most_lines - 1) / most_lines);
  return shape;
}

char letter_of(const MaskLayers& layers, std::int64_t row, std::int64_t column) {
  const double visible = layers.visible.share(row, column);
  if (visible == 1) return '#';
  if (visible > 0) return '+';
  return layers.blocks && layers.blocks->visited.share(row, column) == 0 ? ' ' : '.';
}

/// Every tenth column's first key, above the columns.
std::string key_numbers(const GridShape& shape) {
  std::string line;
  for (std::int64_t column = 0; column < shape.cell_columns(); column += 10) {
    const std::string number = std::to_string(column * shape.column_step);
    if (column + static_cast<std::int64_t>(number.size()) > shape.cell_columns() && column > 0) break;
    line.resize(static_cast<std::size_t>(column), ' ');
    line += number;
  }
  return line;
}

std::string legend(const GridShape& shape, const MaskLayers& layers, const MaskPanel& panel) {
  const bool is_sampled = shape.row_step * shape.column_step > 1;
  std::string text;
  if (is_sampled) text += fmt::format("a character stands for {} {} x {} {}:\n", shape.row_step, panel.queries, shape.column_step, panel.keys);
  text += is_sampled ? "# all visible, + some, . none" : "# visible, . hidden";
  if (layers.blocks) text += " but computed, and a space where a block is skipped";
  return text + "\n";
}

std::string panel_text(const MaskPanel& panel) {
  const std::size_t digits = std::to_string(std::max<std::int64_t>(panel.query_count - 1, 0)).size();
  const GridShape shape = text_cells(panel, line_width - static_cast<std::int64_t>(digits) - 3);
  const MaskLayers layers = panel.layers(shape);
  std::string text = panel.title + "\n";
  for (const std::string& line : panel.figures) text += line + "\n";
  text += legend(shape, layers, panel);
  text += fmt::format("\n{:{}} {}\n", "", digits + 1, key_numbers(shape));
  for (std::int64_t row = 0; row < shape.cell_rows(); ++row) {
    std::string line = fmt::format("{:>{}} |", row * shape.row_step, digits);
    for (std::int64_t column = 0; column < shape.cell_columns(); ++column) line += letter_of(layers, row, column);
    text += line + "|\n";
  }
  return text;
}

}  // namespace

std::string text_of(const MaskPicture& picture) {
  std::string text = picture.title + "\n";
  for (const MaskPanel& panel : picture.panels) text += "\n" + panel_text(panel);
  return text;
}

}  // namespace attune
