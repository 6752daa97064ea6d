// Keys and values of bf16 where the contracted dim or value_depth is innermost in memory. A vector of words holds 2 x lanes of them, and
// each half of the words is f32s after one operation; an f32 made of each 16 bits alone takes two.
#include <algorithm>
#include <optional>

#include "codegen/halide/numbers/bf16.h"
#include "schedules/split_keys/split_keys_stage.h"

using Halide::Expr;
using Halide::Var;

namespace attune {

Expr LanePlaces::element(const Expr& lane, const Expr& vector) const {
  const Expr in_order = vector * lanes + lane;
  return is_const_zero(paired) ? in_order : select(vector < paired, vector / 2 * (2 * lanes) + lane * 2 + vector % 2, in_order);
}

Expr LanePlaces::lane(const Expr& element) const {
  return is_const_zero(paired) ? element % lanes : select(element < paired * lanes, element % (2 * lanes) / 2, element % lanes);
}

Expr LanePlaces::vector(const Expr& element) const {
  return is_const_zero(paired) ? element / lanes
                               : select(element < paired * lanes, element / (2 * lanes) * 2 + element % 2, element / lanes);
}

void SplitKeysStage::find_pairs() {
  using Halide::Internal::simplify;
  if (!body_.score && !body_.over.empty() && is_load_along(body_.key, body_.over.back(), Element::bf16))
    key_places_.paired = simplify(extents_.at(body_.over.back()) / (2 * tiles_.lanes) * 2);
  const std::optional<int> vectors = fixed_value(depth_ / tiles_.lanes);
  if (vectors.value_or(2) < 2 || !is_load_along(body_.value, body_.value_depth, Element::bf16)) return;
  const int group = results_in_registers(true);
  value_places_.paired = simplify(depth_ / tiles_.lanes / group * group);
}

/// Vectors of results per row: no more than there are. Where values lie in pairs, whole pairs, and so few that all rows of a tile take a
/// value once it is an f32.
int SplitKeysStage::results_in_registers(bool in_pairs) const {
  const int vectors = std::min(tiles_.vectors, std::max(fixed_value(depth_ / tiles_.lanes).value_or(tiles_.vectors), 1));
  return in_pairs ? std::max(std::min(vectors, tiles_.sums / tiles_.rows) / 2 * 2, 2) : vectors;
}

/// Keys whose products are summed at once: of those in pairs as many bytes as of others, where registers hold the sums.
int SplitKeysStage::keys_in_registers() const {
  const int in_pairs = std::max(tiles_.keys, std::min(tiles_.keys * 2, tiles_.sums / tiles_.rows));
  return std::min(is_const_zero(key_places_.paired) ? tiles_.keys : in_pairs, tiles_.lanes);
}

/// The element at `first` (part 0) or after it (part 1) along a dim along which the piece lies in pairs.
Expr SplitKeysStage::bf16_element(const Piece& piece, const std::string& dim, Coordinates at, const Expr& first, const Expr& part) {
  at[dim] = first;
  const auto even = piece.load(at);
  at[dim] = first + 1;
  const Expr element = bf16_of_pair(even->stored, piece.load(at)->stored, part);
  return even->constant_factor() == 1.f ? element : element * even->factor;
}

/// lane_ of a vector of values that lie in pairs: the even or the odd ones (part 0 or 1) of a pair of vectors.
Expr SplitKeysStage::paired_value_at(const Expr& pair, const Expr& part, const Expr& key) const {
  Coordinates at = batch_coordinates();
  at[body_.keys] = key_at(key);
  return bf16_element(body_.value, body_.value_depth, at, pair * (2 * tiles_.lanes) + lane_ * 2, part);
}

}  // namespace attune
