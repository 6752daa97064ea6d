#include "tools/picture/canvas.h"

#include <cairo.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "codegen/files/whole_file.h"

namespace attune {
namespace {

constexpr const char* font = "DejaVu Sans";

using Surface = std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)>;
using Context = std::unique_ptr<cairo_t, void (*)(cairo_t*)>;

Surface surface_of(cairo_format_t format, int width, int height) {
  return {cairo_image_surface_create(format, width, height), cairo_surface_destroy};
}

Context context_of(const Surface& surface) {
  Context context(cairo_create(surface.get()), cairo_destroy);
  cairo_select_font_face(context.get(), font, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  return context;
}

cairo_status_t append(void* to, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

std::uint32_t pixel_of(const Colour& colour) {
  const auto byte = [](double share) { return static_cast<std::uint32_t>(std::lround(share * 255)); };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

}  // namespace

struct Canvas::Cairo {
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface;
  std::unique_ptr<cairo_t, void (*)(cairo_t*)> context;

  void colour(const Colour& c) const { cairo_set_source_rgb(context.get(), c.red, c.green, c.blue); }
};

double text_width(const std::string& words, double size) {
  static const Surface surface = surface_of(CAIRO_FORMAT_A8, 1, 1);
  static const Context context = context_of(surface);
  cairo_text_extents_t extents;
  cairo_set_font_size(context.get(), size);
  cairo_text_extents(context.get(), words.c_str(), &extents);
  return extents.x_advance;
}

std::string shortened(const std::string& words, double size, double width) {
  if (text_width(words, size) <= width) return words;
  std::string rest = words;
  while (!rest.empty() && text_width(rest + "\u2026", size) > width) {
    while (rest.size() > 1 && (static_cast<unsigned char>(rest.back()) & 0xc0) == 0x80) rest.pop_back();  // the later bytes of a letter
    rest.pop_back();
  }
  return rest + "\u2026";
}

std::string canvas_problem(double width, double height) {
  constexpr double largest_side = 32767, largest_area = 2e8;  // that cairo draws; 800 MB
  if (width <= largest_side && height <= largest_side && width * height <= largest_area) return {};
  return fmt::format("the picture would be {:.0f} x {:.0f} pixels; up to {:.0f} on a side and {:.0f} in all are drawn", width, height, largest_side, largest_area);
}

Canvas::Canvas(double width, double height) {
  Surface surface = surface_of(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width)), static_cast<int>(std::ceil(height)));
  Context context = context_of(surface);
  cairo_ = std::make_unique<Cairo>(Cairo{std::move(surface), std::move(context)});
  cairo_->colour(paper);
  cairo_paint(cairo_->context.get());
}

Canvas::~Canvas() = default;

void Canvas::fill(const Rectangle& place, const Colour& colour) {
  cairo_->colour(colour);
  cairo_rectangle(cairo_->context.get(), place.left, place.top, place.width, place.height);
  cairo_fill(cairo_->context.get());
}

void Canvas::frame(const Rectangle& place, const Colour& colour) {
  cairo_->colour(colour);
  cairo_set_line_width(cairo_->context.get(), 1);
  cairo_rectangle(cairo_->context.get(), place.left - 0.5, place.top - 0.5, place.width + 1, place.height + 1);
  cairo_stroke(cairo_->context.get());
}

void Canvas::line(double left, double top, double right, double bottom, const Colour& colour) {
  cairo_->colour(colour);
  cairo_set_line_width(cairo_->context.get(), 1);
  cairo_move_to(cairo_->context.get(), left, top);
  cairo_line_to(cairo_->context.get(), right, bottom);
  cairo_stroke(cairo_->context.get());
}

void Canvas::text(const std::string& words, double x, double bottom, double size, const Colour& colour, Align align) {
  slanted_text(words, x, bottom, size, colour, 0, align);
}

void Canvas::slanted_text(const std::string& words, double x, double bottom, double size, const Colour& colour, double turns, Align align) {
  cairo_t* context = cairo_->context.get();
  cairo_->colour(colour);
  cairo_save(context);
  cairo_set_font_size(context, size);
  cairo_translate(context, x, bottom);
  cairo_rotate(context, -2 * std::numbers::pi * turns);
  const double share = align == Align::left ? 0 : align == Align::middle ? 0.5 : 1;
  cairo_move_to(context, -share * text_width(words, size), 0);
  cairo_show_text(context, words.c_str());
  cairo_restore(context);
}

void Canvas::cells(int left, int top, int cell, std::int64_t rows, std::int64_t columns,
                   const std::function<Colour(std::int64_t, std::int64_t)>& colour) {
  cairo_surface_t* surface = cairo_->surface.get();
  cairo_surface_flush(surface);
  unsigned char* pixels = cairo_image_surface_get_data(surface);
  if (pixels == nullptr) return;  // there was no memory for it, which write_png says
  const auto stride = static_cast<std::int64_t>(cairo_image_surface_get_stride(surface));
  const auto size = static_cast<std::size_t>(columns * cell) * sizeof(std::uint32_t);
  for (std::int64_t row = 0; row < rows; ++row) {
    unsigned char* line = pixels + (top + row * cell) * stride + left * static_cast<std::int64_t>(sizeof(std::uint32_t));
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::uint32_t pixel = pixel_of(colour(row, column));
      for (int x = 0; x < cell; ++x) std::memcpy(line + (column * cell + x) * static_cast<std::int64_t>(sizeof pixel), &pixel, sizeof pixel);
    }
    for (int y = 1; y < cell; ++y) std::memcpy(line + y * stride, line, size);
  }
  cairo_surface_mark_dirty(surface);
}

Result<void> Canvas::write_png(const std::filesystem::path& path, const std::string& who) {
  std::string bytes;
  cairo_status_t status = cairo_status(cairo_->context.get());
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_write_to_png_stream(cairo_->surface.get(), append, &bytes);
  if (status != CAIRO_STATUS_SUCCESS) return Error{who + ": cannot be drawn: " + cairo_status_to_string(status)};
  std::string problem = write_whole(path, {bytes});
  if (!problem.empty()) return Error{who + " " + problem};
  return {};
}

}  // namespace attune
