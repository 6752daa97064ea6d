// What the powers of a row's scores are relative to: a whole number that a row keeps from block to block until scores go far beyond it.
#include <limits>
#include <numeric>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/rewrites/store_beside.h"
#include "schedules/common/online_state.h"
#include "schedules/online_softmax/online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace attune {
namespace {

constexpr float lowest = std::numeric_limits<float>::lowest();
/// Weights are 2^most_beyond at most. A row's first block raises its reference; few others do, and what sums lose in f32 does not depend on it.
constexpr float most_beyond = 8;

}  // namespace

/// The references of a group of rows change in a branch. So the CPU takes powers of scores as they come, which would wait for their maximum and the
/// exchange of lanes that it takes otherwise: rarely does it have to take them back. (On Zen 5 0.95 to 0.97 of the time of blocks of 64 keys.)
/// As the state, they change only in blocks that the pass visits.
void SoftmaxStage::define_reference(SoftmaxPass& pass) {
  const bool has_panel_maxima = pass.panel_maximum.defined();
  pass.maximum_vectors = RDom(0, has_panel_maxima ? 1 : tiles_.vectors, 0, tiles_.panels(pass.key_tile), "maximum_vectors");
  const Func of_row = has_panel_maxima ? pass.panel_maximum : pass.scores;
  pass.maximum_by_lane = Func(pass.named("maximum_by_lane"));
  pass.maximum_by_lane(per_row({lane_})) = lowest;
  pass.maximum_by_lane(per_row({lane_})) = max(pass.maximum_by_lane(per_row({lane_})), of_row(lane_of(pass.maximum_vectors)));
  pass.maximum = Func(pass.named("maximum"));
  pass.across = RDom(0, tiles_.lanes, "across");
  pass.maximum(per_row({})) = lowest;
  pass.maximum(per_row({})) = max(pass.maximum(per_row({})), pass.maximum_by_lane(per_row({pass.across.x})));
  // That of the blocks before; of a block whose greatest score is too far above it, that score, rounded up.
  const Expr before = reference_(per_row_of_tile()), maximum = pass.maximum(per_row({}));
  const Expr next = select(strict_less(before + most_beyond, maximum), ceil(maximum), before);
  pass.scale = Func(pass.named("scale"));
  pass.scale(per_row({})) = after(prefetch_query(pass), whole_power(before - next));
  Expr is_raised = Halide::Internal::const_false();
  for (int row = 0; row < tiles_.rows; ++row)
    is_raised = is_raised || pass.scale(joined({row, row_group_, key_block_, query_tile_}, batch_)) < 1.f;
  pass.raised = Func(pass.named("raised"));
  pass.raised(per_row({})) = Halide::undef<float>();
  pass.raising = RDom(0, 1, pass.named("raising"));
  pass.raising.where(Halide::Internal::substitute(pass.block().name(), key_block_, pass.blocks.domain().predicate()));
  pass.raising.where(is_raised);
  pass.raised(per_row({})) = storing_over(next + Halide::cast<float>(pass.raising.x), reference_(per_row_of_tile()));
}

void SoftmaxStage::schedule_reference(SoftmaxPass& pass) {
  // Lanes are folded for some rows at once: of one row alone it would be a chain of scalars.
  const Var rows("rows-"), row_of_rows("row_of_rows-");
  const int rows_at_once = std::gcd(tiles_.rows, 4);
  per_row_group(pass.maximum, pass).vectorize(row_, rows_at_once);
  pass.maximum.update().split(row_, rows, row_of_rows, rows_at_once).reorder(pass.across.x, row_of_rows, rows);
  pass.maximum.update().atomic().vectorize(pass.across.x).vectorize(row_of_rows);
  pass.maximum_by_lane.compute_at(pass.maximum, rows).bound_extent(lane_, tiles_.lanes).bound_extent(row_, rows_at_once);
  pass.maximum_by_lane.reorder_storage(lane_, row_).vectorize(lane_).unroll(row_);
  pass.maximum_by_lane.update().reorder(lane_, pass.maximum_vectors.x, row_, pass.maximum_vectors.y);
  pass.maximum_by_lane.update().vectorize(lane_).unroll(pass.maximum_vectors.x).unroll(row_);
  per_row_group(pass.scale, pass).vectorize(row_, rows_at_once);
  per_row_group(pass.raised, pass).vectorize(row_, rows_at_once);
  pass.raised.update().vectorize(row_, rows_at_once);
  schedule_prefetched_queries(pass);
}

}  // namespace attune
