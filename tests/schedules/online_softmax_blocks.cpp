#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/schedules/attention_case.h"

using namespace attune;
using Halide::Expr;

namespace {

/// What the kernel under test computed, by query and key.
struct Visits {
  static constexpr int side = 512;
  std::vector<std::atomic<int>> scores = std::vector<std::atomic<int>>(side * side), masks = std::vector<std::atomic<int>>(side * side);
} visits;

}  // namespace

extern "C" float attune_test_visit_score(int i, int j, float score) {
  ++visits.scores[static_cast<std::size_t>(i * Visits::side + j)];
  return score;
}

extern "C" bool attune_test_visit_mask(int i, int j, bool visible) {
  ++visits.masks[static_cast<std::size_t>(i * Visits::side + j)];
  return visible;
}

namespace {

Expr call(Halide::Type type, const char* function, const Coordinates& c, const std::string& i, const std::string& j, const Expr& value) {
  return Halide::Internal::Call::make(type, function, {c.at(i), c.at(j), value}, Halide::Internal::Call::Extern);
}

/// The case, with every score and every evaluation of the mask counted.
AttentionCase counted(AttentionCase attention) {
  attention.body.change = [](const Expr& score, const Coordinates& c) {
    return call(Halide::Float(32), "attune_test_visit_score", c, "queries", "keys", score);
  };
  attention.body.visible = [visible = attention.body.visible](const Coordinates& c) {
    return call(Halide::Bool(), "attune_test_visit_mask", c, "queries", "keys", visible(c));
  };
  return attention;
}

struct Count {
  bool any = false, all = true;
};

/// Over the elements of a block that exist.
template <class Predicate>
Count count(int first_query, int query_tile, int first_key, int key_tile, const Shape& s, Predicate predicate) {
  Count c;
  for (int i = first_query; i < std::min(first_query + query_tile, s.queries); ++i)
    for (int j = first_key; j < std::min(first_key + key_tile, s.keys); ++j) {
      const bool holds = predicate(i, j);
      c.any = c.any || holds;
      c.all = c.all && holds;
    }
  return c;
}

/// Blocks in which a group of rows sees something are computed for it, others are not; masks are evaluated outside of wholly visible larger
/// blocks only. The mask's tensor shows some rectangles.
void check_blocks(const AttentionCase& attention, const Shape& s, const std::vector<Parameter>& values) {
  const auto value = [&](const char* name) { return static_cast<int>(value_of(values, name)); };
  const int query_tile = value("query_tile"), fine = value("edge_tile");
  const int rows = value("register_rows");
  const JitKernel kernel = compiled(counted(attention), host_machine(), values);
  for (auto* counts : {&visits.scores, &visits.masks})
    for (auto& c : *counts) c = 0;
  Arguments a(s, 3);
  a.lengths.fill(300);
  a.mask.for_each_element([&](int j, int i, int b) { a.mask(j, i, b) = i / 150 == j / 200 || (i == 290 && j == 3); });
  CHECK(difference(attention, a, computed(kernel, a)) == "");
  const auto sees = [&](int i, int j) { return attention.visible(a, {0, 0, 0, i, j}); };
  const auto at = [](const std::vector<std::atomic<int>>& counts) {
    return [&counts](int i, int j) { return counts[static_cast<std::size_t>(i * Visits::side + j)] > 0; };
  };
  int visited = 0, unmasked = 0, wrong = 0;
  for (int i = 0; i < s.queries; i += rows)
    for (int j = 0; j < s.keys; j += fine) {
      const auto is_whole_in = [&](int tile) {
        const int block = j / tile * tile;
        return block + tile <= s.keys && count(i / query_tile * query_tile, query_tile, block, tile, s, sees).all;
      };
      const bool is_whole = is_whole_in(value("key_tile")) || is_whole_in(value("middle_tile"));
      const bool is_visible = count(i, rows, j, fine, s, sees).any;
      const Count scores = count(i, rows, j, fine, s, at(visits.scores)), masks = count(i, rows, j, fine, s, at(visits.masks));
      const bool is_right = scores.any == is_visible && scores.all == is_visible && masks.any == (is_visible && !is_whole);
      wrong += is_right ? 0 : 1;
      visited += scores.any;
      unmasked += scores.any && !masks.any;
    }
  CHECK(wrong == 0);
  CHECK(visited > 0);
  CHECK(unmasked > 0);
}

const std::vector<Parameter> tiles = {{"query_tile", {}, 24}, {"key_tile", {}, 256},    {"middle_tile", {}, 128},
                                      {"edge_tile", {}, 64},  {"register_rows", {}, 6}, {"register_vectors", {}, 2}};

}  // namespace

TEST_CASE("causal attention computes no block above the diagonal, and masks on the diagonal only", "[blocks]") {
  check_blocks(causal(), {1, 1, 1, 300, 430, 16, 16}, tiles);
}

TEST_CASE("a window computes the blocks that it touches", "[blocks]") {
  check_blocks(window(250), {1, 1, 1, 500, 400, 16, 16}, tiles);
}

TEST_CASE("keys beyond a length from memory are not computed", "[blocks]") {
  check_blocks(padded(), {1, 1, 1, 100, 430, 16, 16}, tiles);
}

TEST_CASE("a mask from memory computes the blocks that show something, and is evaluated where they do not show all", "[blocks]") {
  check_blocks(masked_by_blocks(), {1, 1, 1, 300, 430, 16, 16}, tiles);
}
