#include "tools/picture/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/picture/frame.h"

namespace attune {
namespace {

constexpr std::int64_t most_weights = 4096;  // on a side
constexpr double bar_width = 16, least_number_cell = 30;

/// The weights with the palest and the darkest colour.
struct Scale {
  double low = 0, high = 1;

  double share(double weight) const { return (weight - low) / (high - low); }
  Colour colour(double weight) const {
    if (!std::isfinite(weight)) return hair;
    if (weight == 0) return paper;  // as of what a mask hides
    return weight < 0 ? mixed(paper, dark_orange, std::min(1.0, weight / low)) : blues(weight / high);
  }
};

/// Up to 0.1, 0.2, 0.5, 1, 2, ... so that ticks are round; a map of zeros alone has a scale too.
double rounded_up(double largest) {
  for (double power = 1e-30;; power *= 10)
    for (const double step : {1.0, 2.0, 5.0})
      if (step * power >= largest * (1 - 1e-9)) return step * power;
}

Scale scale_of(const HeatMap& map) {
  double low = 0, high = 0;
  for (const HeatPanel& panel : map.panels)
    for (const double weight : panel.weights)
      if (std::isfinite(weight)) low = std::min(low, weight), high = std::max(high, weight);
  return {low < 0 ? -rounded_up(-low) : 0, high > 0 || low == 0 ? rounded_up(high > 0 ? high : 1) : 0};
}

/// What is the same for all panels.
struct HeatLayout {
  int cell;
  Side rows, columns;
  double left, top, width, height;  // of the matrix in its panel; of the panel with all that stands around

  explicit HeatLayout(const HeatMap& map) {
    const std::int64_t longer = std::max(map.rows, map.columns);
    const double most = map.panels.size() == 1 ? 1000 : 520;
    const bool has_labels = !map.row_labels.empty() || !map.column_labels.empty();
    const int least = has_labels && longer <= 200 ? 13 : 1;
    cell = std::clamp(static_cast<int>(most / static_cast<double>(longer)), least, 40);
    rows = {map.row_name, map.row_labels, map.rows, static_cast<double>(cell)};
    columns = {map.column_name, map.column_labels, map.columns, static_cast<double>(cell)};
    const bool has_titles = std::ranges::any_of(map.panels, [](const HeatPanel& panel) { return !panel.title.empty(); });
    left = std::ceil(rows.depth(false));
    top = std::ceil((has_titles ? note_size + gap : 0) + columns.depth(true));
    // the last label leans over the end
    const double beyond = map.column_labels.empty() ? 0 : 0.75 * std::min(text_width(map.column_labels.back(), columns.letter_size()), longest_label);
    width = left + columns.length() + beyond + margin;
    height = top + rows.length() + margin;
    for (const HeatPanel& panel : map.panels) width = std::max(width, text_width(panel.title, note_size) + margin);
  }
};

void draw_numbers(Canvas& canvas, const HeatMap& map, const HeatPanel& panel, const HeatLayout& layout, const Scale& scale, double left, double top) {
  const double size = 0.29 * layout.cell;
  for (std::int64_t row = 0; row < map.rows; ++row)
    for (std::int64_t column = 0; column < map.columns; ++column) {
      const double weight = panel.weights[static_cast<std::size_t>(row * map.columns + column)];
      if (!std::isfinite(weight) || std::fabs(scale.colour(weight).green - paper.green) < 0.03) continue;  // numbers of small weights hide the pattern
      const std::string number = fmt::format("{:.2f}", weight);
      const Colour colour = weight > 0.5 * scale.high ? paper : ink;
      canvas.text(number, left + (static_cast<double>(column) + 0.5) * layout.cell,
                  top + (static_cast<double>(row) + 0.5) * layout.cell + 0.36 * size, size, colour, Align::middle);
    }
}

void draw_heat(Canvas& canvas, const HeatMap& map, const HeatPanel& panel, const HeatLayout& layout, const Scale& scale, double x, double y) {
  const double left = std::round(x + layout.left), top = std::round(y + layout.top);
  if (!panel.title.empty()) canvas.text(panel.title, x, y + note_size, note_size, ink);
  canvas.cells(static_cast<int>(left), static_cast<int>(top), layout.cell, map.rows, map.columns, [&](std::int64_t row, std::int64_t column) {
    return scale.colour(panel.weights[static_cast<std::size_t>(row * map.columns + column)]);
  });
  if (layout.cell >= least_number_cell) draw_numbers(canvas, map, panel, layout, scale, left, top);
  draw_sides(canvas, {left, top, layout.columns.length(), layout.rows.length()}, layout.rows, layout.columns);
}

/// A bar of the colours, with five numbers at most beside it.
void draw_bar(Canvas& canvas, const Rectangle& bar, const Scale& scale) {
  for (double y = 0; y < bar.height; ++y)
    canvas.fill({bar.left, bar.top + y, bar.width, std::min(1.0, bar.height - y)},
                scale.colour(scale.high - (scale.high - scale.low) * y / bar.height));
  canvas.frame(bar, faint_ink);
  const int parts = bar.height > 100 ? 5 : bar.height > 40 ? 2 : 1;
  for (int i = 0; i <= parts; ++i) {
    const double weight = scale.low + (scale.high - scale.low) * i / parts, y = bar.bottom() - bar.height * scale.share(weight);
    canvas.text(fmt::format("{:.3g}", weight), bar.right() + gap, y + 0.36 * tick_size, tick_size, faint_ink);
  }
}

}  // namespace

std::string heat_map_problem(std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1) return fmt::format("{} x {} weights: there is nothing to draw; at least one row and one column are", rows, columns);
  if (rows <= most_weights && columns <= most_weights) return {};
  return fmt::format("{} x {} weights are too many to draw; up to {} x {} are drawn", rows, columns, most_weights, most_weights);
}

Result<void> draw(const HeatMap& map, const std::filesystem::path& path, const std::string& who) {
  const Scale scale = scale_of(map);
  const HeatLayout layout(map);
  const int count = static_cast<int>(map.panels.size()), columns = columns_of_panels(count, layout.width, layout.height);
  const double head = margin + (map.title.empty() ? 0 : title_size + 2 * gap), lines = (count + columns - 1) / columns;
  const double number_width =
      std::max(text_width(fmt::format("{:.3g}", scale.high * 4 / 5), tick_size), text_width(fmt::format("{:.3g}", scale.low), tick_size));
  const double width =
      std::max(margin + columns * layout.width + bar_width + gap + number_width, margin + text_width(map.title, title_size)) + margin;
  const double height = head + lines * layout.height + margin / 2;
  if (std::string problem = canvas_problem(width, height); !problem.empty()) return Error{who + ": " + problem};
  Canvas canvas(width, height);
  canvas.text(map.title, margin, margin + title_size, title_size, ink);
  for (int i = 0; i < count; ++i)
    draw_heat(canvas, map, map.panels[static_cast<std::size_t>(i)], layout, scale, margin + i % columns * layout.width,
              head + i / columns * layout.height);
  const double bar_height = std::clamp(layout.rows.length(), 30.0, 400.0);
  draw_bar(canvas, {std::round(margin + columns * layout.width), std::round(head + layout.top), bar_width, bar_height}, scale);
  return canvas.write_png(path, who);
}

}  // namespace attune
