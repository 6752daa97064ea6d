#include "schedules/gemm/dot_sums.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {

void sum_dots(Func sums, const DotTile& tile, const Tiled& over, const DotTerm& term, const Halide::LoopLevel& level) {
  const Expr outer = over.outer().extent();
  const int lanes = tile.lanes;
  const Var &column = tile.column, &row = tile.row, lane("lane-");
  std::vector<Var> at{column, row};
  at.insert(at.end(), tile.others.begin(), tile.others.end());
  const auto in_vector = [&](const auto& of_lane) {
    std::vector<std::decay_t<decltype(of_lane)>> place{of_lane};
    place.insert(place.end(), at.begin(), at.end());
    return place;
  };
  Func vectors("vectors");
  RDom block({{0, over.extent() / lanes}, {0, outer}}, "block");
  vectors(in_vector(lane)) = 0.f;
  vectors(in_vector(lane)) += term(block[1], block[0] * lanes + lane);
  RDom across(0, lanes, "across");
  sums(at) = 0.f;
  sums(at) += vectors(in_vector(Expr(across)));
  RDom rest({{0, over.extent() % lanes}, {0, outer}}, "rest");
  sums(at) += term(rest[1], over.extent() / lanes * lanes + rest[0]);

  vectors.compute_at(level).bound_extent(lane, lanes).bound_extent(column, tile.columns).bound_extent(row, tile.rows);
  vectors.vectorize(lane).unroll(column).unroll(row);
  vectors.update().reorder(lane, column, row, RVar(block[0].name()), RVar(block[1].name())).vectorize(lane).unroll(column).unroll(row);
  sums.compute_at(level).bound_extent(column, tile.columns).bound_extent(row, tile.rows).vectorize(column).unroll(row);
  sums.update(0).reorder(RVar(across.x.name()), column, row).atomic().vectorize(across.x).unroll(column).unroll(row);
  sums.update(1).reorder(column, row, RVar(rest[0].name()), RVar(rest[1].name())).unroll(column).unroll(row);
}

}  // namespace attune
