#include <cairo.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>

#include "samples/sentence_similarity/heat_map.h"
#include "samples/sentence_similarity/report.h"
#include "tests/folder.h"

using namespace sentence_similarity;
using Catch::Matchers::Contains;

namespace {

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint32_t> pixels;

  explicit Picture(const std::filesystem::path& path) {
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(cairo_image_surface_create_from_png(path.c_str()),
                                                                               cairo_surface_destroy);
    REQUIRE(cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS);
    width = cairo_image_surface_get_width(surface.get());
    height = cairo_image_surface_get_height(surface.get());
    const unsigned char* row = cairo_image_surface_get_data(surface.get());
    for (int y = 0; y < height; ++y, row += cairo_image_surface_get_stride(surface.get()))
      for (int x = 0; x < width; ++x) pixels.push_back(reinterpret_cast<const std::uint32_t*>(row)[x] & 0xffffff);
  }

  std::uint32_t pixel(int x, int y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }
};

}  // namespace

TEST_CASE("the tables are aligned, also with letters of several bytes", "[sentence_similarity]") {
  std::vector<float> embeddings(at(2 * Sizes::model));
  embeddings[0] = 1;
  embeddings[at(Sizes::model)] = -0.6f;
  embeddings[at(Sizes::model + 1)] = 0.8f;
  const std::string wide = "caf\u00e9 " + std::string(80, 'x');
  CHECK(similarity_table({"short", wide}, embeddings) ==
        std::string(68, ' ')
            .append("       1       2\n")
            .append(" 1  short" + std::string(59, ' '))
            .append("  1.0000 -0.6000\n")
            .append(" 2  caf\u00e9 " + std::string(56, 'x'))
            .append("... -0.6000  1.0000\n"));

  CHECK(weights_table({"caf\u00e9", "##ization"}, std::vector<float>{0.25f, 0.75f, 1, 0}) ==
        "           caf\u00e9 ##ization\n"
        "caf\u00e9      0.250     0.750\n"
        "##ization 1.000     0.000\n");
}

TEST_CASE("the largest difference finds the worst element and NaN", "[sentence_similarity]") {
  const std::vector<float> values = {1, 2, 3};
  CHECK(largest_difference(values, std::vector<double>{1, 2.5, 2.75}) == 0.5);
  CHECK(largest_difference(values, std::vector<double>{1, 2, 3}) == 0);
  CHECK(std::isnan(largest_difference(values, std::vector<double>{std::nan(""), 9, 3})));
}

TEST_CASE("a heat map shows weights as colours", "[sentence_similarity]") {
  const attune::Folder folder;
  const HeatMap map{"two", {"a", "b"}, {1, 0, 0, 1}};
  REQUIRE(draw(map, folder / "x.png"));
  CHECK(folder.size() == 1);
  const Picture picture(folder / "x.png");
  constexpr std::uint32_t darkest = 0x08306b, lightest = 0xf7fbff;  // the ends of the colour bar
  int changes = 0;  // from one cell to its neighbour, along a row of pixels near the upper edge of the first row of cells
  bool is_found = false;
  for (int y = 0; y < picture.height && !is_found; ++y)
    for (int x = 0; x + 1 < picture.width; ++x)
      if (picture.pixel(x, y) == darkest && picture.pixel(x + 1, y) == lightest) {
        is_found = true;
        ++changes;
      }
  CHECK(is_found);
  CHECK(changes == 1);

  REQUIRE(draw({"two", {"a", "b"}, {0, 1, 1, 0}}, folder / "x.png"));
  CHECK(folder.size() == 1);
  const Picture other(folder / "x.png");
  REQUIRE(other.pixels.size() == picture.pixels.size());
  CHECK(other.pixels != picture.pixels);
}

TEST_CASE("heat maps of one token and of many are drawn", "[sentence_similarity]") {
  const attune::Folder folder;
  REQUIRE(draw({"one", {"\u5317"}, {1}}, folder / "x.png"));
  CHECK(Picture(folder / "x.png").width > 50);
  const std::size_t count = 100;
  REQUIRE(draw({"many", std::vector<std::string>(count, "##word"), std::vector<float>(count * count, 0.01f)}, folder / "x.png"));
  CHECK(Picture(folder / "x.png").width > 1000);
}

TEST_CASE("heat maps that cannot be drawn or written are refused", "[sentence_similarity]") {
  const attune::Folder folder;
  CHECK_THAT(draw({"none", {}, {}}, folder / "x.png").error().message, Contains("has 0 weights for 0 tokens"));
  CHECK_THAT(draw({"odd", {"a", "b"}, {1, 2, 3}}, folder / "x.png").error().message, Contains("has 3 weights for 2 tokens"));
  CHECK_THAT(draw({"nan", {"a"}, {std::numeric_limits<float>::quiet_NaN()}}, folder / "x.png").error().message,
             Contains("a weight is not a number"));
  CHECK_THAT(draw({"one", {"a"}, {1}}, folder / "none/x.png").error().message, Contains("cannot be written"));
  std::filesystem::create_directory(folder / "full");
  CHECK_THAT(draw({"one", {"a"}, {1}}, folder / "full").error().message, Contains("cannot be written"));
  CHECK(folder.size() == 1);
}
