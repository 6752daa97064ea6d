/// Where queries stand among the keys, when there are more of one than of the other.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// top_left: query i stands at key i. bottom_right: the last query stands at the last key, as when the first keys come from a cache.
enum class Alignment { top_left, bottom_right };
constexpr std::array<std::string_view, 2> enumerators(Alignment) { return {"top_left", "bottom_right"}; }

/// The key at which a query stands: i64 [queries]; below 0 for the first of more queries than keys at the bottom right.
constexpr Value place_of(const Attention& a, Alignment alignment) {
  const Value i = index(a.queries);
  return alignment == Alignment::top_left ? i : i + (extent(a.keys) - extent(a.queries));
}

}  // namespace attune
