#include "tools/picture/frame.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attune {
namespace {

/// Of the labels that are drawn.
double widest_label(const Side& side) {
  double widest = 0;
  for (std::int64_t i = 0; i < side.positions; i += side.step())
    widest = std::max(widest, text_width(side.labels[static_cast<std::size_t>(i)], side.letter_size()));
  return std::min(widest, longest_label);
}

double number_width(const Side& side) { return text_width(std::to_string(std::max<std::int64_t>(side.positions - 1, 0)), tick_size); }

void draw_rows(Canvas& canvas, const Rectangle& matrix, const Side& side) {
  const double size = side.letter_size();
  for (std::int64_t i = 0; i < side.positions; i += side.step()) {
    const double middle = matrix.top + (static_cast<double>(i) + 0.5) * side.pixels;
    const std::string words = side.labels.empty() ? std::to_string(i) : shortened(side.labels[static_cast<std::size_t>(i)], size, longest_label);
    canvas.text(words, matrix.left - gap, middle + 0.36 * size, size, side.labels.empty() ? faint_ink : ink, Align::right);
    if (side.step() > 1) canvas.line(matrix.left - 4, middle, matrix.left - 1, middle, hair);
  }
  canvas.slanted_text(side.name, matrix.left - side.depth(false) + tick_size, matrix.top + matrix.height / 2, tick_size, faint_ink, 0.25,
                      Align::middle);
}

void draw_columns(Canvas& canvas, const Rectangle& matrix, const Side& side) {
  const double size = side.letter_size();
  for (std::int64_t i = 0; i < side.positions; i += side.step()) {
    const double middle = matrix.left + (static_cast<double>(i) + 0.5) * side.pixels;
    if (side.labels.empty()) canvas.text(std::to_string(i), middle, matrix.top - gap, size, faint_ink, Align::middle);
    else
      canvas.slanted_text(shortened(side.labels[static_cast<std::size_t>(i)], size, longest_label), middle + 0.25 * size, matrix.top - gap, size, ink,
                          label_slant);
    if (side.step() > 1) canvas.line(middle, matrix.top - 4, middle, matrix.top - 1, hair);
  }
  canvas.text(side.name, matrix.left + matrix.width / 2, matrix.top - side.depth(true) + tick_size, tick_size, faint_ink, Align::middle);
}

}  // namespace

std::int64_t round_step(double least) {
  for (std::int64_t power = 1;; power *= 10)
    for (const std::int64_t step : {power, 2 * power, 5 * power})
      if (static_cast<double>(step) >= least) return step;
}

double Side::letter_size() const { return labels.empty() ? tick_size : std::clamp(0.7 * pixels, 9.0, 15.0); }

std::int64_t Side::step() const {
  if (!labels.empty()) return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(1.4 * letter_size() / pixels)));
  return round_step((number_width(*this) + 1.2 * tick_size) / pixels);
}

double Side::depth(bool is_slanted) const {
  const double name_depth = tick_size + gap;
  if (!labels.empty() && is_slanted) return gap + (widest_label(*this) + letter_size()) * std::sin(2 * std::numbers::pi * label_slant) + name_depth;
  if (!labels.empty()) return gap + widest_label(*this) + name_depth;
  return gap + (is_slanted ? tick_size : number_width(*this)) + name_depth;
}

void draw_sides(Canvas& canvas, const Rectangle& matrix, const Side& rows, const Side& columns) {
  canvas.frame(matrix, faint_ink);
  draw_rows(canvas, matrix, rows);
  draw_columns(canvas, matrix, columns);
}

int columns_of_panels(int count, double width, double height, double most) {
  int best = 1;
  for (int columns = 1; columns <= count; ++columns) {
    const auto unevenness = [&](int n) { return std::fabs(std::log(n * width / (std::ceil(static_cast<double>(count) / n) * height))); };
    if (columns * width <= most && unevenness(columns) < unevenness(best)) best = columns;
  }
  return best;
}

}  // namespace attune
