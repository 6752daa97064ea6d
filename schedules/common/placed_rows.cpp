#include "schedules/common/placed_rows.h"

namespace attune {

using Halide::Expr;

PlacedRows placed_rows(const Pointwise& body, const Extents& extents) {
  const RowPlaces& places = *body.places;
  PlacedRows written{Halide::Func("written"), {}, body.out};
  for (std::string& dim : written.dims)
    if (dim == places.along) dim = places.rows;
  Halide::Region ranges;
  for (auto dim = written.dims.rbegin(); dim != written.dims.rend(); ++dim) ranges.emplace_back(0, extents.at(*dim));
  Halide::RDom domain(ranges, "rows");
  Coordinates at;
  for (std::size_t n = 0; n < written.dims.size(); ++n) at[written.dims[n]] = domain[static_cast<int>(written.dims.size() - 1 - n)];
  domain.where(places.is_written(at));
  const Expr value = body.x.at(at), last = extents.at(places.along) - 1;
  std::vector<Halide::Var> vars;
  std::vector<Expr> place;
  for (std::size_t n = body.out.size(); n-- > 0;) {
    vars.emplace_back(body.out[n]);
    const bool is_along = body.out[n] == places.along;
    place.push_back(is_along ? Halide::unsafe_promise_clamped(places.place(at), 0, last) : Expr(at.at(body.out[n])));
    written.loops.emplace_back(domain[static_cast<int>(body.out.size() - 1 - n)]);
  }
  written.func(vars) = Halide::undef(value.type());
  written.func(place) = value;
  written.func.compute_root();
  written.func.update().allow_race_conditions();
  return written;
}

}  // namespace attune
