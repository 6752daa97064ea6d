#include "schedules/whole_rows/whole_rows_stage.h"

using Halide::Func;
using Halide::Partition;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {

/// All sums of a tile are in registers at once.
bool WholeRowsStage::are_sums_in_registers() const {
  const auto depth = fixed_value(depth_);
  return depth && *depth % tiles_.lanes == 0 && *depth / tiles_.lanes <= tiles_.vectors;
}

/// Loops, outermost first: batch dims (parallel), tiles of queries, queries, value_depth. A last tile that is not full takes
/// queries of the one before it, too; calls that have less than a tile of queries have tiles of one.
void WholeRowsStage::schedule_out() {
  const Var depth(body_.value_depth), vector("vector_of_depth-"), query_in_tile("query_in_tile-");
  const Halide::Expr queries = extents_.at(body_.queries);
  const auto fixed_depth = fixed_value(depth_);
  const bool has_whole_vectors = fixed_depth && *fixed_depth % tiles_.lanes == 0;
  out_.compute_root().bound(query_, 0, queries).bound(depth, 0, depth_);
  out_.split(depth, vector, lane_, tiles_.lanes, has_whole_vectors ? TailStrategy::RoundUp : TailStrategy::GuardWithIf).vectorize(lane_);
  std::vector<VarOrRVar> order = {lane_, vector, query_};
  for (auto dim = body_.batch.rbegin(); dim != body_.batch.rend(); ++dim) order.emplace_back(Var(*dim));
  out_.reorder(order);
  // Partitioned, these loops would hold the whole stage twice.
  for (const std::string& dim : body_.batch) out_.parallel(Var(dim)).partition(Var(dim), Partition::Never);
  const auto tile = [&](Stage stage, int rows, TailStrategy tail) {
    stage.split(query_, query_tile_, query_in_tile, rows, tail).partition(query_tile_, Partition::Never);
    if (are_sums_in_registers()) stage.unroll(vector).unroll(query_in_tile);
  };
  if (tiles_.rows > 1) tile(out_.specialize(queries >= tiles_.rows), tiles_.rows, TailStrategy::ShiftInwards);
  tile(out_, 1, TailStrategy::RoundUp);
}

/// Computed for a tile of queries. Storage whose size follows from the call is allocated once for all tiles of a batch index.
Func& WholeRowsStage::per_tile(Func& f) {
  f.compute_at(out_, query_tile_);
  return batch_.empty() ? f.hoist_storage_root() : f.hoist_storage(out_, Var(body_.batch.back()));
}

/// Vectors of keys where scores are computed by themselves, the keys of a product otherwise.
void WholeRowsStage::schedule_scores() {
  if (query_row_.defined()) per_tile(query_row_).bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  if (product_.defined()) schedule_product(unchanged_.defined() ? unchanged_ : scores_);
  if (product_.defined() && !unchanged_.defined()) return;
  per_tile(scores_).vectorize(key_, tiles_.lanes, TailStrategy::RoundUp);
}

/// Sums of register_rows x register_keys in registers along the contracted dim, then over the lanes.
void WholeRowsStage::schedule_product(Func& scores) {
  const Var keys("key_group-"), key("key_in_group-");
  per_tile(scores).split(key_, keys, key, tiles_.keys, TailStrategy::RoundUp).reorder(key, query_, keys).vectorize(key).unroll(query_);
  // Partitioned, the loop would hold the products twice; a mask from memory is loaded without clamps for that.
  if (unchanged_.defined() || !body_.visible) scores.partition(keys, Partition::Never);
  product_sum_.compute_at(scores, keys).bound_extent(key_, tiles_.keys).vectorize(key_).vectorize(query_);
  product_sum_.update().atomic().reorder(across_.x, key_, query_).vectorize(across_.x).vectorize(key_).vectorize(query_);
  product_.compute_at(scores, keys).bound_extent(lane_, tiles_.lanes).bound_extent(key_, tiles_.keys);
  product_.vectorize(lane_).unroll(key_).unroll(query_);
  for (std::size_t n = 0; n < overs_.size(); ++n) {
    Stage update = product_.update(static_cast<int>(n));
    std::vector<VarOrRVar> order = {lane_}, outer = {key_, query_};
    for (int dim = 0; dim < overs_[n].dimensions(); ++dim) (body_.combine ? order : outer).emplace_back(overs_[n][dim]);
    order.insert(order.end(), outer.begin(), outer.end());
    update.reorder(order).vectorize(lane_);
    // A term of many operations is there once.
    if (!body_.combine) update.unroll(key_).unroll(query_);
  }
}

void WholeRowsStage::schedule_weights() {
  for (Func* f : {&maximum_by_half_, &maximum_, &total_, &kept_total_, &scale_})
    if (f->defined()) f->compute_at(out_, query_tile_).vectorize(query_);
  if (body_.has_softmax) {
    maximum_by_half_.bound_extent(half_, 2).vectorize(half_);
    maximum_by_half_.update().atomic().reorder(across_half_.x, half_, query_).vectorize(across_half_.x).vectorize(half_).vectorize(query_);
  }
  if (total_.defined() && total_.has_update_definition()) total_.update().atomic().reorder(across_.x, query_).vectorize(across_.x).vectorize(query_);
  for (Func* f : {&maximum_by_lane_, &total_by_lane_}) {
    if (!f->defined()) continue;
    f->compute_at(out_, query_tile_).bound_extent(lane_, tiles_.lanes).vectorize(lane_).unroll(query_);
    f->update().reorder(lane_, query_, key_vectors_.x).vectorize(lane_).unroll(query_);
  }
  for (Func* f : {&weights_, &changed_weights_})
    if (f->defined()) per_tile(*f).vectorize(key_, tiles_.lanes, TailStrategy::RoundUp);
}

/// Sums of register_rows x register_vectors in registers over all keys.
void WholeRowsStage::schedule_sum() {
  Func& sum = per_tile(sum_).bound_extent(lane_, tiles_.lanes).vectorize(lane_).unroll(query_);
  if (are_sums_in_registers()) sum.unroll(vector_);
  // Distances between a tile's sums must be constants, or LLVM keeps them in memory: an unknown extent goes outermost.
  if (!fixed_value(depth_)) sum.reorder_storage(lane_, query_, vector_);
  if (whole_.defined()) {
    sum.update(0).reorder(lane_, whole_[0], query_, whole_[1], whole_[2]);
    sum.update(0).vectorize(lane_).unroll(whole_[0]).unroll(query_);
  }
  int update = whole_.defined() ? 1 : 0;
  for (const Halide::RDom& rest : rests_) sum.update(update++).reorder(lane_, query_, rest[0], rest[1]).vectorize(lane_).unroll(query_);
}

}  // namespace attune
