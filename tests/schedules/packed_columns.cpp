#include "schedules/gemm/packed_columns.h"

#include <catch2/catch.hpp>
#include <map>
#include <utility>

using namespace attune;
using Halide::Expr;

namespace {

int value_of(const Expr& e) {
  Expr simple = Halide::Internal::simplify(e);
  if (const auto* promise = Halide::Internal::Call::as_intrinsic(simple, {Halide::Internal::Call::unsafe_promise_clamped}))
    simple = Halide::Internal::simplify(promise->args[0]);
  const auto value = Halide::Internal::as_const_int(simple);
  if (!value) FAIL("no number: " << simple);
  return static_cast<int>(*value);
}

bool holds(const Expr& e) { return Halide::Internal::is_const_one(Halide::Internal::simplify(Halide::Internal::remove_likelies(e))); }

/// How often each column of so many heads of so many is a column of a tile.
std::map<std::pair<int, int>, int> columns_of(const PackedColumns& columns) {
  std::map<std::pair<int, int>, int> times;
  for (int tile = 0; tile < value_of(columns.tiles()); ++tile)
    for (int j = 0; j < columns.width(); ++j) {
      if (!holds(columns.has(tile, j))) continue;
      Coordinates at, clamped;
      columns.place(tile, j, at);
      columns.place_clamped(tile, j, false, clamped);
      const auto place = [](const Coordinates& c) { return std::pair(value_of(c.at("heads")), value_of(c.at("depth"))); };
      CHECK(place(at) == place(clamped));
      ++times[place(at)];
    }
  return times;
}

}  // namespace

TEST_CASE("each column is one of one tile", "[linear]") {
  struct Case {
    int heads, depth, lanes, tiles;
    bool are_read_along = false;
  };
  for (const Case& c : {Case{15, 64, 16, 15}, Case{30, 32, 16, 15}, Case{12, 80, 16, 15}, Case{10, 96, 16, 15}, Case{24, 40, 16, 15}, Case{40, 24, 16, 15},
                        Case{13, 72, 16, 15}, Case{3, 37, 16, 2}, Case{5, 5, 8, 2}, Case{20, 48, 8, 30}, Case{0, 40, 16, 0}, Case{3, 0, 16, 0},
                        Case{24, 40, 16, 15, true}}) {
    CAPTURE(c.heads, c.depth, c.lanes, c.are_read_along);
    const PackedColumns columns({"heads", "depth"}, {{"heads", Expr(c.heads)}, {"depth", Expr(c.depth)}}, {4, c.lanes, c.are_read_along});
    CHECK(value_of(columns.tiles()) == c.tiles);
    const auto times = columns_of(columns);
    CHECK(static_cast<int>(times.size()) == c.heads * c.depth);
    for (const auto& [place, count] : times) CHECK(count == 1);
  }
}

TEST_CASE("a last tile knows how many vectors have columns", "[linear]") {
  const auto vectors_from = [](int heads, int depth, int tile) {
    const PackedColumns columns({"heads", "depth"}, {{"heads", Expr(heads)}, {"depth", Expr(depth)}}, {4, 16});
    return value_of(columns.vectors_from(tile));
  };
  CHECK(vectors_from(1, 80, 0) == 5);
  CHECK(vectors_from(1, 80, 1) == 1);
  CHECK(vectors_from(3, 32, 1) == 2);
  CHECK(vectors_from(3, 24, 1) == 1);
  const PackedColumns one_dim({"depth"}, {{"depth", Expr(100)}}, {4, 16});
  CHECK(value_of(one_dim.vectors_from(1)) == 3);
}
