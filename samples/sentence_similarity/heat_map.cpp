#include "samples/sentence_similarity/heat_map.h"

#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <system_error>

namespace sentence_similarity {
namespace {

using attune::Error;
using attune::Result;

struct Colour {
  double red, green, blue;
};

constexpr Colour ink = {0.13, 0.13, 0.15};
constexpr Colour faint_ink = {0.42, 0.42, 0.45};
constexpr Colour paper = {1, 1, 1};

/// From nearly white to dark blue in equal steps of lightness (ColorBrewer's nine blues), for a share from 0 to 1.
Colour colour_of(double share) {
  constexpr std::array<Colour, 9> stops = {{{247, 251, 255},
                                            {222, 235, 247},
                                            {198, 219, 239},
                                            {158, 202, 225},
                                            {107, 174, 214},
                                            {66, 146, 198},
                                            {33, 113, 181},
                                            {8, 81, 156},
                                            {8, 48, 107}}};
  const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double part = place - static_cast<double>(lower);
  const auto mixed = [&](double a, double b) { return (a + (b - a) * part) / 255; };
  const Colour &a = stops[lower], &b = stops[lower + 1];
  return {mixed(a.red, b.red), mixed(a.green, b.green), mixed(a.blue, b.blue)};
}

struct Release {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Surface = std::unique_ptr<cairo_surface_t, Release>;
using Context = std::unique_ptr<cairo_t, Release>;

Context context_of(const Surface& surface) {
  Context context(cairo_create(surface.get()));
  cairo_select_font_face(context.get(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  return context;
}

double width_of(cairo_t* context, const std::string& text, double size) {
  cairo_text_extents_t extents;
  cairo_set_font_size(context, size);
  cairo_text_extents(context, text.c_str(), &extents);
  return extents.x_advance;
}

constexpr const char* note = "row: a token; its cells: the weight that it gives to each token";

/// Where everything stands, in pixels.
struct Layout {
  static constexpr double margin = 24, gap = 8, title_size = 18, note_size = 12, bar_width = 18, tick_size = 12;
  static constexpr double slant = std::numbers::pi / 4;  // of the labels on top

  double cell, label_size;
  double left, top, side;  // of the square of cells
  double bar_left;
  double width, height;

  explicit Layout(const HeatMap& map) {
    const auto count = static_cast<double>(map.tokens.size());
    cell = std::clamp(std::floor(1600 / count), 10.0, 42.0);
    label_size = std::min(15.0, 0.7 * cell);  // slanted lines of labels are cell * sin(slant) apart
    const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
    const Context context = context_of(surface);
    double label_width = 0;
    for (const std::string& token : map.tokens) label_width = std::max(label_width, width_of(context.get(), token, label_size));
    const double last_width = width_of(context.get(), map.tokens.back(), label_size);
    side = cell * count;
    left = std::ceil(margin + label_width + gap);  // whole pixels, so that cells have sharp edges
    top = std::ceil(margin + title_size + note_size + 3 * gap + (label_width + label_size) * std::sin(slant) + gap);
    bar_left = left + side + 3 * gap;
    const double bar_right = bar_left + bar_width + gap + 3 * tick_size;
    const double label_right = left + side + (last_width + label_size) * std::cos(slant);
    const double title_width = width_of(context.get(), map.title, title_size);
    width = std::max({bar_right, label_right, margin + std::max(title_width, width_of(context.get(), note, note_size))}) + margin;
    height = top + side + margin;
  }
};

/// Draws on a context that is as large as the layout says.
class Painter {
 public:
  Painter(cairo_t* context, const Layout& layout, const HeatMap& map) : context_(context), layout_(layout), map_(map) {
    const float largest = *std::max_element(map.weights.begin(), map.weights.end());
    full_ = std::clamp(std::ceil(static_cast<double>(largest) * 10) / 10, 0.1, 1.0);
  }

  void paint() {
    colour(paper);
    cairo_paint(context_);
    text(map_.title, Layout::margin, Layout::margin + Layout::title_size, Layout::title_size, ink);
    text(note, Layout::margin, Layout::margin + Layout::title_size + Layout::gap + Layout::note_size, Layout::note_size, faint_ink);
    labels();
    for (std::size_t i = 0; i < map_.tokens.size(); ++i)
      for (std::size_t j = 0; j < map_.tokens.size(); ++j) cell(i, j);
    frame(layout_.left, layout_.top, layout_.side, layout_.side);
    bar();
  }

 private:
  void colour(const Colour& c) { cairo_set_source_rgb(context_, c.red, c.green, c.blue); }

  void text(const std::string& words, double x, double y, double size, const Colour& c) {
    colour(c);
    cairo_set_font_size(context_, size);
    cairo_move_to(context_, x, y);
    cairo_show_text(context_, words.c_str());
  }

  void frame(double x, double y, double width, double height) {
    colour(faint_ink);
    cairo_set_line_width(context_, 1);
    cairo_rectangle(context_, x - 0.5, y - 0.5, width + 1, height + 1);
    cairo_stroke(context_);
  }

  void labels() {
    const double size = layout_.label_size;
    for (std::size_t i = 0; i < map_.tokens.size(); ++i) {
      const std::string& token = map_.tokens[i];
      const double middle = (static_cast<double>(i) + 0.5) * layout_.cell;
      text(token, layout_.left - Layout::gap - width_of(context_, token, size), layout_.top + middle + 0.35 * size, size, ink);
      cairo_save(context_);
      cairo_translate(context_, layout_.left + middle + 0.25 * size, layout_.top - Layout::gap);
      cairo_rotate(context_, -Layout::slant);
      text(token, 0, 0, size, ink);
      cairo_restore(context_);
    }
  }

  void cell(std::size_t i, std::size_t j) {
    const double weight = static_cast<double>(map_.weights[i * map_.tokens.size() + j]);
    const double x = layout_.left + static_cast<double>(j) * layout_.cell;
    const double y = layout_.top + static_cast<double>(i) * layout_.cell;
    colour(colour_of(weight / full_));
    cairo_rectangle(context_, x, y, layout_.cell, layout_.cell);
    cairo_fill(context_);
    const double least_shown = 0.015;  // numbers of smaller weights hide the pattern
    if (layout_.cell < 30 || weight < least_shown) return;
    const std::string number = weight > 0.995 ? "1.0" : fmt::format("{:.2f}", weight).substr(1);
    const double size = 0.31 * layout_.cell;
    text(number, x + (layout_.cell - width_of(context_, number, size)) / 2, y + layout_.cell / 2 + 0.36 * size, size,
         weight > 0.5 * full_ ? paper : ink);
  }

  void bar() {
    const double x = layout_.bar_left;
    for (double step = 0; step < layout_.side; ++step) {
      colour(colour_of(1 - step / layout_.side));
      cairo_rectangle(context_, x, layout_.top + step, Layout::bar_width, std::min(1.0, layout_.side - step));
      cairo_fill(context_);
    }
    frame(x, layout_.top, Layout::bar_width, layout_.side);
    const double least_distance = 2 * Layout::tick_size;  // between ticks
    const int tenths = static_cast<int>(std::lround(full_ * 10));
    const int step = std::max(1, static_cast<int>(std::ceil(least_distance * tenths / layout_.side)));
    for (int tick = 0; tick <= tenths; tick += step) {
      const double y = layout_.top + layout_.side * (1 - tick / (10 * full_));
      text(fmt::format("{:.1f}", tick / 10.0), x + Layout::bar_width + Layout::gap, y + 0.36 * Layout::tick_size, Layout::tick_size,
           faint_ink);
    }
  }

  cairo_t* context_;
  const Layout& layout_;
  const HeatMap& map_;
  double full_ = 1;  // the weight with the darkest colour: the largest, rounded up to tenths
};

/// All of the file or nothing of it, where the path's last link leads; a device or a pipe is written to as it is. The problem in words.
std::string write_png(cairo_surface_t* surface, const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::file_status found = fs::status(path, problem);
  const bool is_file = fs::is_regular_file(found), is_special = fs::exists(found) && !is_file;
  const fs::path target = is_file ? fs::canonical(path, problem) : path;
  const fs::path draft = is_special ? target : fs::path(fmt::format("{}.{}.tmp", target.string(), std::random_device{}()));
  if (const auto status = cairo_surface_write_to_png(surface, draft.c_str()); status != CAIRO_STATUS_SUCCESS) {
    if (!is_special) fs::remove(draft, problem);
    return cairo_status_to_string(status);
  }
  if (is_special) return {};
  fs::rename(draft, target, problem);
  if (!problem) return {};
  const std::string why = problem.message();
  fs::remove(draft, problem);
  return why;
}

}  // namespace

Result<void> draw(const HeatMap& map, const std::filesystem::path& path) {
  const auto error = [&](const std::string& what) { return Error{fmt::format("heat map '{}': {}", path.string(), what)}; };
  if (map.tokens.empty() || map.weights.size() != map.tokens.size() * map.tokens.size())
    return error(
        fmt::format("has {} weights for {} tokens; expected a square of them, at least one", map.weights.size(), map.tokens.size()));
  if (!std::all_of(map.weights.begin(), map.weights.end(), [](float weight) { return std::isfinite(weight); }))
    return error("a weight is not a number; expected 0 to 1");
  const Layout layout(map);
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(layout.width)),
                                                   static_cast<int>(std::ceil(layout.height))));
  const Context context = context_of(surface);
  Painter(context.get(), layout, map).paint();
  if (const auto status = cairo_status(context.get()); status != CAIRO_STATUS_SUCCESS)
    return error(fmt::format("cannot be drawn: {}", cairo_status_to_string(status)));
  const std::string problem = write_png(surface.get(), path);
  return problem.empty() ? Result<void>() : error("cannot be written: " + problem);
}

}  // namespace sentence_similarity
