#include "schedules/common/tiles.h"

#include <utility>

using Halide::Expr;

namespace attune {

Expr tiles_of(const Expr& extent, const Expr& size) { return Halide::Internal::simplify((extent + size - 1) / size); }

Expr pieces_of(int work, const std::vector<Expr>& factors) {
  Expr piece = 1.f;
  for (const Expr& factor : factors) piece = piece * Halide::cast<float>(factor);
  return Halide::cast<int>(static_cast<float>(work) / Halide::clamp(piece, 1.f, static_cast<float>(work)));
}

Expr within(const Expr& index, const Expr& extent) { return Halide::unsafe_promise_clamped(index, 0, extent - 1); }

Expr clamped(const Expr& index, const Expr& extent, bool is_lane) {
  return within(Halide::min(is_lane ? Halide::likely(index) : index, extent - 1), extent);
}

bool lies_along(const Piece& piece, const std::string& dim) { return piece && !piece.dims.empty() && piece.dims.back() == dim; }

bool is_load_along(const Piece& piece, const std::string& dim, Element element) {
  const auto load = piece ? piece.load() : nullptr;
  if (!load || load->element != element || !load->constant_factor() || load->place.empty()) return false;
  const auto* innermost = load->place[0].as<Halide::Internal::Variable>();
  return innermost != nullptr && innermost->name == dim;
}

bool is_in_place_along(const Piece& piece, const std::string& dim) {
  return is_load_along(piece, dim, Element::f32) && piece.load()->constant_factor() == 1.f;
}

std::vector<Expr> innermost_first(const std::vector<std::string>& dims, const Coordinates& at) {
  std::vector<Expr> place;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) place.push_back(at.at(*dim));
  return place;
}

Expr element_of(const Stored& stored, const Coordinates& at) { return stored.func(innermost_first(stored.dims, at)); }

Flat::Flat(std::vector<std::string> dims, const Extents& extents) : dims_(std::move(dims)) {
  for (const std::string& dim : dims_) extents_.push_back(extents.at(dim));
}

Expr Flat::extent() const {
  Expr product = 1;
  for (const Expr& extent : extents_) product = product * extent;
  return Halide::Internal::simplify(product);
}

void Flat::place(Expr index, Coordinates& at) const {
  place_unpromised(std::move(index), at);
  for (std::size_t n = 0; n < dims_.size(); ++n) at[dims_[n]] = within(at[dims_[n]], extents_[n]);
}

void Flat::place_unpromised(Expr index, Coordinates& at) const {
  for (std::size_t n = dims_.size(); n-- > 1;) {
    // A divisor that is known to be positive is not checked for 0.
    const Expr extent = Halide::max(extents_[n], 1);
    at[dims_[n]] = index % extent;
    index = index / extent;
  }
  if (!dims_.empty()) at[dims_[0]] = index;
}

Expr Flat::index(const Coordinates& at) const {
  Expr index = 0;
  for (std::size_t n = 0; n < dims_.size(); ++n) index = index * extents_[n] + at.at(dims_[n]);
  return Halide::Internal::simplify(index);
}

Tiled::Tiled(std::vector<std::string> dims, const Extents& extents, int size) : size_(size) {
  if (dims.empty()) return;
  dim_ = dims.back();
  extent_ = extents.at(dim_);
  dims.pop_back();
  outer_ = Flat(std::move(dims), extents);
}

Expr Tiled::tiles() const { return Halide::Internal::simplify(outer_.extent() * tiles_along()); }

Expr Tiled::first(const Expr& tile) const {
  return (outer_.size() == 0 ? tile : tile % Halide::max(tiles_along(), 1)) * size_;
}

void Tiled::place(const Expr& tile, const Expr& index, Coordinates& at) const {
  place_outer(outer_.size() == 0 ? Expr(0) : tile / Halide::max(tiles_along(), 1), index, at);
}

void Tiled::place_outer(const Expr& outer, const Expr& index, Coordinates& at) const {
  outer_.place(outer, at);
  if (!dim_.empty()) at[dim_] = index;
}

}  // namespace attune
