/// Canvas: white paper to draw on, in pixels from the upper left corner, and the PNG file of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "runtime/result.h"
#include "tools/picture/palette.h"

namespace attune {

struct Rectangle {
  double left = 0, top = 0, width = 0, height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

/// Which point of a text its place is.
enum class Align { left, middle, right };

/// The width of a line in pixels, for a size of the letters in pixels.
double text_width(const std::string& words, double size);

/// "a long tex..." of so many pixels at most.
std::string shortened(const std::string& words, double size, double width);

/// Why no canvas is so large, in words; empty if one may be.
std::string canvas_problem(double width, double height);

class Canvas {
 public:
  /// A size without a problem; fractions are rounded up.
  Canvas(double width, double height);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void fill(const Rectangle& place, const Colour& colour);
  /// A line of one pixel around the place.
  void frame(const Rectangle& place, const Colour& colour);
  void line(double left, double top, double right, double bottom, const Colour& colour);
  /// Text is UTF-8, its baseline at `bottom`.
  void text(const std::string& words, double x, double bottom, double size, const Colour& colour, Align align = Align::left);
  /// Text that runs upwards from its place, at the angle in turns of a full circle against the horizontal.
  void slanted_text(const std::string& words, double x, double bottom, double size, const Colour& colour, double turns, Align align = Align::left);
  /// Squares of `cell` pixels, row by row from a place in whole pixels.
  void cells(int left, int top, int cell, std::int64_t rows, std::int64_t columns,
             const std::function<Colour(std::int64_t row, std::int64_t column)>& colour);

  /// Replaces the file in one step. Errors: `who` in front, then the path and why.
  Result<void> write_png(const std::filesystem::path& path, const std::string& who);

 private:
  struct Cairo;
  std::unique_ptr<Cairo> cairo_;
};

}  // namespace attune
