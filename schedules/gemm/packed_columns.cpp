#include "schedules/gemm/packed_columns.h"

#include <optional>
#include <utility>

#include "schedules/common/softmax_math.h"

using Halide::Expr;

namespace attune {
namespace {

/// Elements of the smallest piece: half a vector of 16, where that fills vectors, as of heads of 40 columns. Of smaller ones a vector would take many
/// loads and stores.
constexpr int least_piece = 8;

int piece_of(const std::vector<std::string>& dims, const Extents& extents, const PackedColumns::Shape& shape) {
  const int width = shape.vectors * shape.lanes;
  if (dims.size() < 2) return width;
  const Expr& along = extents.at(dims.back());
  const bool fills_tiles = Halide::Internal::can_prove(along % width == 0);
  const std::optional<int> known = fixed_value(along);
  if (fills_tiles || (shape.are_read_along && !known)) return width;
  const int half = shape.lanes / 2, rest = known ? *known % shape.lanes : 0;
  return half >= least_piece && rest > 0 && rest <= half ? half : shape.lanes;
}

}  // namespace

PackedColumns::PackedColumns(std::vector<std::string> dims, const Extents& extents, const Shape& shape)
    : width_(shape.vectors * shape.lanes), lanes_(shape.lanes), columns_(dims, extents, piece_of(dims, extents, shape)) {}

Expr PackedColumns::tiles() const { return tiles_of(columns_.tiles(), width_ / columns_.size()); }

Expr PackedColumns::vectors_from(const Expr& tile) const {
  if (columns_.size() == width_) return tiles_of(along() - columns_.first(tile), lanes_);
  return tiles_of(columns_.tiles() * columns_.size() - tile * width_, lanes_);
}

PackedColumns::Place PackedColumns::place_of(const Expr& tile, const Expr& j) const {
  const int size = columns_.size();
  if (!has_outer()) return {0, tile * width_ + j};
  const Expr along = Halide::max(columns_.tiles_along(), 1);
  if (size == width_) return {tile / along, tile % along * size + j};
  const Expr piece = tile * (width_ / size) + j / size;
  return {piece / along, piece % along * size + j % size};
}

Expr PackedColumns::has(const Expr& tile, const Expr& j) const {
  const Place at = place_of(tile, j);
  const Expr is_along = Halide::likely(at.index < along());
  return columns_.size() == width_ ? is_along : is_along && at.outer < columns_.outer().extent();
}

void PackedColumns::place(const Expr& tile, const Expr& j, Coordinates& at) const {
  const Place place = place_of(tile, j);
  columns_.place_outer(place.outer, within(place.index, along()), at);
}

void PackedColumns::place_clamped(const Expr& tile, const Expr& j, bool is_lane, Coordinates& at) const {
  const Place place = place_of(tile, j);
  const bool may_end_outside = columns_.size() < width_;
  columns_.place_outer(may_end_outside ? clamped(place.outer, columns_.outer().extent(), false) : place.outer, clamped(place.index, along(), is_lane), at);
}

void PackedColumns::place_anywhere(const Expr& tile, const Expr& j, Coordinates& at) const {
  const Place place = place_of(tile, j);
  columns_.place_outer(place.outer, place.index, at);
}

}  // namespace attune
