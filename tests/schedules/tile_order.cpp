#include "schedules/online_softmax/tile_order.h"

#include <catch2/catch.hpp>

#include "tests/schedules/attention_case.h"

using namespace attune;
using Halide::Expr;
using Halide::Var;

namespace {

const Var tile("tile"), block("block");
constexpr int query_tile = 64, key_tile = 32;

/// Of what a tile of queries may see of a block of keys, both cut off at the ends of their dims.
TileOrder order_under(const AttentionCase& attention) {
  const Expr first_query = tile * query_tile, first_key = block * key_tile;
  const Expr queries = attention.extents.at("queries"), keys = attention.extents.at("keys");
  Block box{{"queries", {first_query, min(first_query + query_tile, queries) - 1, tile, query_tile}},
            {"keys", {first_key, min(first_key + key_tile, keys) - 1, block, key_tile}}};
  for (const char* dim : {"batch", "heads", "group"}) box[dim] = {Var(dim), Var(dim)};
  return order_of_tiles(attention.body.visibility(box).possibly, tile, block);
}

/// Keys before `prefix` are seen by all queries, others by later ones.
AttentionCase prefix() {
  AttentionCase attention;
  attention.body.visibility = [lengths = attention.lengths](const Block& b) {
    const Expr prefix = lengths(b.at("batch").first), of_queries = b.at("queries").last, of_keys = b.at("keys").first;
    return Visibility{b.at("keys").last < prefix || b.at("keys").last <= b.at("queries").first, of_keys < prefix || of_keys <= of_queries};
  };
  return attention;
}

/// Keys are seen by queries up to their own place.
AttentionCase anticausal() {
  AttentionCase attention;
  attention.body.visibility = [](const Block& b) {
    return Visibility{b.at("keys").first >= b.at("queries").last, b.at("keys").last >= b.at("queries").first};
  };
  return attention;
}

}  // namespace

TEST_CASE("tiles are taken from the last to the first where later queries see more keys", "[tile_order]") {
  CHECK(order_under(causal()) == TileOrder::last_to_first);
  CHECK(order_under(prefix()) == TileOrder::last_to_first);
}

TEST_CASE("tiles are taken in order where later queries see as many keys, or fewer", "[tile_order]") {
  CHECK(order_under(window(16)) == TileOrder::first_to_last);
  CHECK(order_under(window(1 << 20)) == TileOrder::first_to_last);
  CHECK(order_under(padded()) == TileOrder::first_to_last);
  CHECK(order_under(anticausal()) == TileOrder::first_to_last);
  CHECK(order_of_tiles(Halide::Internal::const_true(), tile, block) == TileOrder::first_to_last);
}

TEST_CASE("later queries that see everything are no reason to turn the tiles round", "[tile_order]") {
  CHECK(order_of_tiles(tile * query_tile >= 5, tile, block) == TileOrder::first_to_last);
}

TEST_CASE("a mask in memory proves no order of tiles", "[tile_order]") {
  CHECK(order_under(masked_by_blocks()) == TileOrder::first_to_last);
  const AttentionCase known = masked_by_blocks();
  CHECK(order_of_tiles(known.mask(block, tile, 0) != Halide::cast<std::uint8_t>(0) && block <= tile, tile, block) == TileOrder::first_to_last);
}

TEST_CASE("the stage takes its tiles as the order says", "[tile_order]") {
  const auto turned = [](const AttentionCase& attention) {
    return online_softmax(attention.body, attention.extents, host_machine(), {}).last_first.size();
  };
  CHECK(turned(causal()) == 1);
  CHECK(turned(window(16)) == 0);
  CHECK(turned(AttentionCase()) == 0);
}
