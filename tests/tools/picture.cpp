#include <cairo.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "tests/folder.h"
#include "tools/picture/heat_map.h"
#include "tools/picture/mask_picture.h"

namespace attune {
namespace {

std::uint32_t pixel_of(const Colour& colour) {
  const auto byte = [](double share) { return static_cast<std::uint32_t>(std::lround(share * 255)); };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

/// How many pixels of a PNG have each colour.
struct Pixels {
  std::map<std::uint32_t, int> counts;
  int width = 0, height = 0;

  explicit Pixels(const std::string& file) {
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(cairo_image_surface_create_from_png(file.c_str()),
                                                                               cairo_surface_destroy);
    REQUIRE(cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS);
    width = cairo_image_surface_get_width(surface.get());
    height = cairo_image_surface_get_height(surface.get());
    const unsigned char* data = cairo_image_surface_get_data(surface.get());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        std::uint32_t pixel = 0;
        std::memcpy(&pixel, data + y * cairo_image_surface_get_stride(surface.get()) + 4 * x, sizeof pixel);
        ++counts[pixel & 0xffffff];
      }
  }
  int count(const Colour& colour) const {
    const auto found = counts.find(pixel_of(colour));
    return found == counts.end() ? 0 : found->second;
  }
};

/// Causal, in blocks of 4 x 4.
MaskPanel causal_panel(std::int64_t size, bool has_blocks) {
  MaskPanel panel{"a mask", {"figures"}, "queries", "keys", size, size, {}};
  panel.layers = [=](const GridShape& shape) {
    MaskLayers layers{Grid(shape), std::nullopt};
    for (std::int64_t i = 0; i < size; ++i) layers.visible.cover(i, i + 1, 0, i + 1);
    if (!has_blocks) return layers;
    layers.blocks.emplace(BlockLayers{Grid(shape), Grid(shape), {}});
    for (std::int64_t i = 0; i < size; i += 4)
      for (std::int64_t j = 0; j <= i; j += 4) {
        layers.blocks->visited.cover(i, std::min(i + 4, size), j, std::min(j + 4, size));
        if (j < i) layers.blocks->whole.cover(i, std::min(i + 4, size), j, j + 4);
      }
    return layers;
  };
  return panel;
}

constexpr int swatch_pixels = 12 * 12;

}  // namespace

TEST_CASE("a cell of a mask's picture has the colour of its pair", "[picture]") {
  const Folder folder;
  REQUIRE(draw({"causal", {causal_panel(8, true)}}, folder / "blocks.png", "--out"));
  const Pixels blocks(folder / "blocks.png");
  const int cell = 24 * 24;
  CHECK(blocks.count(dark_blue) == 16 * cell + swatch_pixels);
  CHECK(blocks.count(sky_blue) == 20 * cell + swatch_pixels);
  CHECK(blocks.count(light_orange) == 12 * cell + swatch_pixels);
  REQUIRE(draw({"causal", {causal_panel(8, false)}}, folder / "mask.png", "--out"));
  CHECK(Pixels(folder / "mask.png").count(dark_blue) == 36 * cell + swatch_pixels);
  CHECK(folder.size() == 2);  // nothing beside the pictures
}

TEST_CASE("a pixel of a large mask is mixed of its pairs", "[picture]") {
  const Folder folder;
  REQUIRE(draw({"causal", {causal_panel(2048, false)}}, folder / "mask.png", "--out"));
  const Pixels mask(folder / "mask.png");
  CHECK(mask.count(dark_blue) == 1024 * 1023 / 2 + swatch_pixels);
  CHECK(mask.count(mixed(paper, dark_blue, 0.75)) >= 1024);  // three of four pairs on the diagonal
  CHECK(mask.width < 1200);
}

TEST_CASE("the text of a mask is at most 80 columns wide and says what a character stands for", "[picture]") {
  const std::string small = text_of({"causal", {causal_panel(5, true)}});
  CHECK(small ==
        "causal\n\na mask\nfigures\n# visible, . hidden but computed, and a space where a block is skipped\n\n"
        "   0\n0 |#... |\n1 |##.. |\n2 |###. |\n3 |#### |\n4 |#####|\n");
  const std::string large = text_of({"causal", {causal_panel(300, false)}});
  CHECK_THAT(large, Catch::Contains("a character stands for 10 queries x 5 keys:\n# all visible, + some, . none\n") && Catch::Contains("\n290 |####"));
  for (std::size_t at = 0, end = 0; (end = large.find('\n', at)) != std::string::npos; at = end + 1) CHECK(end - at <= 80);
}

TEST_CASE("a picture that cannot be written or drawn is refused", "[picture]") {
  CHECK(draw({"causal", {causal_panel(3, true)}}, "/dev/null/mask.png", "--out").error().message.starts_with("--out '/dev/null/mask.png': cannot be written: "));
  std::vector<MaskPanel> panels;
  for (int i = 0; i < 300; ++i) panels.push_back(causal_panel(1024, false));
  CHECK_THAT(draw({"causal", panels}, "mask.png", "--out").error().message,
             Catch::StartsWith("--out: the picture would be ") && Catch::Contains("; up to 32767 on a side"));
}

TEST_CASE("a cell of a heat map has the colour of its weight", "[picture]") {
  const Folder folder;
  const HeatMap map{"weights", "queries",  "keys",          2,
                    3,         {"a", "b"}, {"x", "y", "z"}, {{"heads 0", {1, 0, 0, 0.25, 0.5, 0.25}}, {"heads 1", {1, 0, 0, 0, 0, 1}}}};
  REQUIRE(draw(map, folder / "weights.png", "--heatmap"));
  const Pixels pixels(folder / "weights.png");
  const int cell = 40 * 40;
  CHECK(pixels.count(blues(1)) > 3 * cell * 3 / 4);  // less a number
  CHECK(pixels.count(blues(1)) < 3 * cell + 16 * 2);
  CHECK(pixels.count(blues(0.25)) > 2 * cell * 3 / 4);
  CHECK(pixels.count(blues(0.25)) < 2 * cell + 16 * 2);
}

TEST_CASE("weights below zero and no numbers have colours of their own", "[picture]") {
  const Folder folder;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(draw({"", "queries", "keys", 1, 4, {}, {}, {{"", {-0.5, nan, 0, 2}}}}, folder / "weights.png", "--heatmap"));
  const Pixels pixels(folder / "weights.png");
  CHECK(pixels.count(dark_orange) > 40 * 40 / 2);
  CHECK(pixels.count(hair) >= 40 * 40);
  CHECK(pixels.count(blues(1)) > 40 * 40 / 2);
}

TEST_CASE("how many weights are drawn is limited", "[picture]") {
  CHECK(heat_map_problem(4096, 4096).empty());
  CHECK(heat_map_problem(1, 4097) == "1 x 4097 weights are too many to draw; up to 4096 x 4096 are drawn");
  CHECK_THAT(heat_map_problem(0, 3), Catch::StartsWith("0 x 3 weights: there is nothing to draw"));
}

}  // namespace attune
