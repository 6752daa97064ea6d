/// What a schedule of attention says of the blocks that it visits.
#pragma once

#include <cstdint>

namespace attune {

/// The blocks of pairs that a schedule of attention tells apart to leave some out: query_tile x key_tile where all is visible (or, where that cannot
/// be known, where anything may be), query_group x edge_tile over the rest. Without a number all there are.
struct BlockSizes {
  static constexpr std::int64_t all = std::int64_t{1} << 40;
  std::int64_t query_tile = all, query_group = all, key_tile = all, edge_tile = all;
};

}  // namespace attune
