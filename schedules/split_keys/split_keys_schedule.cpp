#include <algorithm>
#include <numeric>

#include "schedules/split_keys/split_keys_stage.h"

using Halide::Func;
using Halide::Partition;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {
/// Batch indices of the keys in parallel; the states of the splits of one are merged when all are there.
void SplitKeysStage::schedule_out() {
  const Var depth(body_.value_depth), vector("vector_of_depth-");
  out_.compute_root().split(depth, vector, lane_, tiles_.lanes, TailStrategy::GuardWithIf).vectorize(lane_);
  std::vector<VarOrRVar> order = {lane_, vector};
  const auto is_shared = [&](const std::string& dim) {
    for (const Halide::Expr& var : batch_)
      if (var.as<Halide::Internal::Variable>()->name == dim) return true;
    return false;
  };
  for (const bool is_of_keys : {false, true})
    for (auto dim = body_.out.rbegin(); dim != body_.out.rend(); ++dim)
      if (*dim != body_.value_depth && is_shared(*dim) == is_of_keys) order.emplace_back(Var(*dim));
  out_.reorder(order);
  // Partitioned, these loops would hold the whole stage twice.
  for (const Halide::Expr& var : batch_) {
    const Var dim(var.as<Halide::Internal::Variable>()->name);
    out_.parallel(dim).partition(dim, Partition::Never);
  }
  for (Func* f : {&split_state_, &maximum_of_splits_, &greatest_, &total_by_lane_, &total_, &kept_total_, &sum_}) {
    if (!f->defined()) continue;
    if (batch_.empty())
      f->compute_root();
    else
      f->compute_at(out_, Var(batch_[0].as<Halide::Internal::Variable>()->name));
    f->bound_extent(row_, tiles_.rows);
  }
  if (total_.defined()) {
    total_by_lane_.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
    total_by_lane_.update().reorder(lane_, row_, row_group_, row_tile_, all_splits_.x).vectorize(lane_);
    if (total_.has_update_definition()) total_.update().atomic().vectorize(state_lanes_.x);
  }
  sum_.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  sum_.update().reorder(lane_, vector_, row_, row_group_, row_tile_, all_splits_.x).vectorize(lane_);
}

/// Loops within a batch index, outermost first: splits (parallel), row tiles, blocks of keys. Within a block vectors of keys, then groups of rows.
void SplitKeysStage::schedule_splits() {
  split_state_.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  split_state_.parallel(split_).partition(split_, Partition::Never).partition(row_tile_, Partition::Never);
  for (Func* f : {&place_, &query_panel_, &state_})
    if (f->defined()) f->compute_at(split_state_, row_tile_).bound_extent(row_, tiles_.rows).bound_storage(row_group_, tiles_.row_groups);
  if (query_panel_.defined()) query_panel_.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  state_.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  state_.update().reorder(lane_, vector_, row_, row_group_, blocks_.x).vectorize(lane_).unroll(row_);
  // Loads along the keys of what changes scores run without clamps but in the last block.
  if (!body_.change && !body_.visible && !body_.weight && !body_.score) state_.update().partition(blocks_.x, Partition::Never);
}

Func& SplitKeysStage::per_block(Func& f) {
  f.compute_at(state_, blocks_.x).bound_storage(block_, 1).bound_storage(row_tile_, 1).bound_storage(split_, 1);
  return f.bound_extent(row_, tiles_.rows).bound_storage(row_group_, tiles_.row_groups);
}

/// Sums of register_rows x register_keys vectors along the contracted dim. As many of them as a vector has lanes are folded to one vector
/// as soon as they are there: while shuffles wait for the sums, the next products run.
void SplitKeysStage::schedule_scores() {
  const Var keys("keys_of_vector-"), key("key_of_vector-");
  Func& scores = per_block(scores_).bound_storage(key_, tiles_.key_tile);
  scores.split(key_, keys, key, tiles_.lanes, TailStrategy::RoundUp).vectorize(key).reorder(key, row_, row_group_, keys).unroll(row_);
  if (!product_.defined()) return;
  const Var key_group("key_group-"), key_in_group("key_in_group-"), tile("key_tile-"), key_in_tile("key_in_tile-");
  const int tile_keys = keys_in_registers(), folded_keys = std::max(tiles_.lanes / tiles_.rows, tile_keys);
  // Not bound_extent: of few known keys bounds inference takes in a vector more than there is.
  product_sum_.compute_at(scores, row_group_).bound_extent(row_, tiles_.rows).reorder_storage(row_, key_);
  product_sum_.split(key_, key_group, key_in_group, folded_keys, TailStrategy::RoundUp).reorder(row_, key_in_group, key_group);
  product_sum_.vectorize(row_).vectorize(key_in_group);
  product_sum_.update().split(key_, key_group, key_in_group, folded_keys, TailStrategy::RoundUp);
  product_sum_.update().reorder(across_.x, row_, key_in_group, key_group).atomic();
  product_sum_.update().vectorize(across_.x).vectorize(row_).vectorize(key_in_group);
  product_.compute_at(product_sum_, key_group).bound_extent(lane_, tiles_.lanes).bound_extent(row_, tiles_.rows).bound_extent(key_, folded_keys);
  // Distances between a tile's sums must be constants, or LLVM keeps them in memory.
  product_.reorder_storage(lane_, row_, key_);
  product_.vectorize(lane_).unroll(key_).unroll(row_);
  schedule_prefetched_key();
  for (std::size_t n = 0; n < product_parts_.size(); ++n) {
    const ProductPart& part = product_parts_[n];
    Halide::Stage update = product_.update(static_cast<int>(n)).split(key_, tile, key_in_tile, tile_keys);
    std::vector<VarOrRVar> order = {lane_, key_in_tile, row_};
    for (int dim = 0; dim < part.over.dimensions(); ++dim) order.emplace_back(part.over[dim]);
    order.emplace_back(tile);
    update.reorder(order).vectorize(lane_).unroll(key_in_tile).unroll(row_).unroll(tile);
    if (part.is_paired) update.unroll(part.over[0]);
  }
}

void SplitKeysStage::schedule_weights() {
  if (body_.has_softmax) {
    schedule_maximum();
    per_block(reference_);
  }
  for (Func* f : {&weights_, &changed_weights_})
    if (f->defined()) per_block(*f).bound_storage(key_, tiles_.key_tile).vectorize(key_, tiles_.lanes, TailStrategy::RoundUp);
  if (!sum_by_lane_.defined()) return;
  per_block(sum_by_lane_).bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  sum_by_lane_.update().reorder(lane_, block_vectors_.x, row_, row_group_).vectorize(lane_);
}

/// Lanes are folded for some rows at once: of one row alone it would be a chain of scalars.
void SplitKeysStage::schedule_maximum() {
  const Var rows("rows-"), row_of_rows("row_of_rows-");
  const int rows_at_once = std::gcd(tiles_.rows, 4);
  per_block(maximum_).vectorize(row_, rows_at_once);
  maximum_.update().split(row_, rows, row_of_rows, rows_at_once).reorder(lanes_.x, row_of_rows, rows, row_group_);
  maximum_.update().atomic().vectorize(lanes_.x).vectorize(row_of_rows);
  maximum_by_lane_.compute_at(maximum_, rows).bound_extent(lane_, tiles_.lanes).bound_extent(row_, rows_at_once);
  maximum_by_lane_.reorder_storage(lane_, row_).vectorize(lane_).unroll(row_);
  maximum_by_lane_.update().reorder(lane_, row_, block_vectors_.x).vectorize(lane_).unroll(row_);
}

/// Sums of some rows x register_vectors in registers over a group of keys, which all rows take before the next one.
void SplitKeysStage::schedule_partial() {
  Func& partial = per_block(partial_).bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  // Distances between a tile's sums must be constants, or LLVM keeps them in memory: an unknown extent goes outermost.
  if (!fixed_value(depth_)) partial.reorder_storage({lane_, row_, vector_});
  if (whole_.defined()) {
    const Var row_in_registers("row_in_registers-"), row_part("row_part-");
    int rows = std::clamp(tiles_.sums / *fixed_value(whole_[0].extent()), 1, tiles_.rows);
    while (tiles_.rows % rows != 0) --rows;
    partial.update(0).split(row_, row_part, row_in_registers, rows, TailStrategy::RoundUp);
    partial.update(0).reorder(lane_, whole_[0], row_in_registers, whole_[1], whole_[2], row_part, row_group_, whole_[3]);
    partial.update(0).vectorize(lane_).unroll(whole_[0]).unroll(row_in_registers).unroll(row_part);
  }
  int update = whole_.defined() ? 1 : 0;
  for (const Halide::RDom& rest : rests_) partial.update(update++).reorder(lane_, row_, rest[0], rest[1], row_group_, rest[2]).vectorize(lane_).unroll(row_);
}

}  // namespace attune
