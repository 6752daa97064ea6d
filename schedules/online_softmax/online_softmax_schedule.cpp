#include <algorithm>

#include "schedules/online_softmax/online_softmax_stage.h"

using Halide::Func;
using Halide::Partition;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {
namespace {

/// Of a row's state: more are a loop, which keeps code and compile time small where the width of the values is large.
constexpr int most_unrolled_vectors = 8;
/// So many rows take a value while it is in a register, and the second-level cache brings the next one in time.
constexpr int rows_that_hide_loads = 6;

/// Rows of weights are a panel further apart than they are long:
/// at distances of 1 or 2 kB their elements would share few sets of the first-level cache.
void keep_rows_apart(Func& f, const Var& panel, int panels) { f.bound_extent(panel, panels).bound_storage(panel, panels + 1); }

bool contains(const std::vector<std::string>& dims, const std::string& dim) { return std::ranges::find(dims, dim) != dims.end(); }

}  // namespace

/// Loops, outermost first: batch dims of the keys, other batch dims, query tiles (all parallel), queries, value_depth.
/// So keys are packed once for all that share them.
void SoftmaxStage::schedule_out() {
  const Var query(body_.queries), depth(body_.value_depth), query_in_tile("query_in_tile-");
  const bool has_whole_vectors = fixed_depth_ && *fixed_depth_ % tiles_.lanes == 0;
  if (fixed_depth_) out_.bound(depth, 0, *fixed_depth_);
  out_.compute_root()
      .split(query, query_tile_, query_in_tile, tiles_.query_tile, TailStrategy::GuardWithIf)
      .split(depth, vector_, lane_, tiles_.lanes, has_whole_vectors ? TailStrategy::RoundUp : TailStrategy::GuardWithIf)
      .vectorize(lane_);
  std::vector<VarOrRVar> order = {lane_, vector_, query_in_tile, query_tile_};
  for (const bool is_of_keys : {false, true})
    for (auto dim = body_.batch.rbegin(); dim != body_.batch.rend(); ++dim)
      if (contains(body_.key.dims, *dim) == is_of_keys) order.emplace_back(Var(*dim));
  out_.reorder(order);
  // Partitioned, these loops would hold the whole stage twice.
  for (std::size_t n = 3; n < order.size(); ++n) out_.parallel(order[n]).partition(order[n], Partition::Never);

  per_tile(state_).bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  if (is_state_unrolled()) state_.bound_extent(vector_, vectors_ + state_vectors_beside()).unroll(vector_);
  if (reference_.defined()) per_tile(reference_).vectorize(row_);
  if (total_.defined()) per_tile(total_);
  if (kept_total_.defined()) per_tile(kept_total_);
}

/// Those of the total and of the greatest score.
int SoftmaxStage::state_vectors_beside() const {
  if (body_.has_softmax) return stored_rows_.maximum.is_wanted() ? 2 : 1;
  return keeps_total(body_) ? 1 : 0;
}

/// The vectors of a row's state are updated one after the other, not in a loop: value_depth up to 128 of 16 lanes.
bool SoftmaxStage::is_state_unrolled() const { return fixed_value(vectors_).value_or(most_unrolled_vectors + 1) <= most_unrolled_vectors; }

/// Computed and stored for one query tile.
Func& SoftmaxStage::per_tile(Func& f) {
  f.compute_at(out_, query_tile_).bound_storage(query_tile_, 1);
  return f.bound_extent(row_, tiles_.rows).bound_storage(row_group_, tiles_.row_groups());
}

/// Computed and stored for one block of keys: for all rows of the tile, or for one group of them after the other.
Func& SoftmaxStage::per_block(Func& f, const SoftmaxPass& pass, bool by_row_groups) {
  f.compute_at(by_row_groups ? Halide::LoopLevel(state_, row_group_) : Halide::LoopLevel(state_, pass.block()));
  f.bound_storage(key_block_, 1).bound_storage(query_tile_, 1);
  // One group of rows takes little time, in which memory would be taken and given back.
  if (tiles_.in_matrix_tiles) f.hoist_storage(out_, query_tile_);
  return f.bound_extent(row_, tiles_.rows).bound_storage(row_group_, by_row_groups ? 1 : tiles_.row_groups());
}

/// What follows from scores: of many keys one group of rows after the other, so that weights are read soon after they are written (0.975 of the
/// time on Zen 5). Of few keys a group's maximum, weights and sums would wait for one another.
Func& SoftmaxStage::per_row_group(Func& f, const SoftmaxPass& pass) {
  return per_block(f, pass, pass.by_row_groups || (pass.key_tile > tiles_.edge_tile && !sums_by_panels(pass)));
}

/// Where only a part of the values' rows is summed at once, lines lie apart, and prefetchers bring them late: all rows then take the values of one
/// panel, which stay in the first-level cache, before those of the next. (On Zen 5 0.93 to 0.98 of the time at depth 128; one part: 1.005.)
bool SoftmaxStage::sums_by_panels(const SoftmaxPass& pass) const {
  return !bf16_ && !body_.is_of_rows && !reads_copies(pass) && fixed_depth_ && vectors_in_group() * tiles_.lanes < *fixed_depth_ && tiles_.rows < rows_that_hide_loads;
}

/// Where values are copied because groups of vectors are narrow, each group's sums begin in registers (on Zen 4 0.96 to 0.998 of the time for AVX2).
/// One group for all vectors begins in memory: with 16 sums of 16 lanes more, LLVM keeps sums of other loops in memory, too.
bool SoftmaxStage::has_sums_of_groups(const SoftmaxPass& pass) const {
  const int vectors = fixed_value(vectors_).value_or(0);
  return reads_copies(pass) && vectors > vectors_in_group() && vectors % vectors_in_group() == 0;
}

void SoftmaxStage::schedule_panels() {
  if (copies_values()) {
    per_batch_index(value_panel_, value_batch_);
    schedule_copied_vectors(value_panel_.reorder(lane_, vector_, vector_group_, key_));
  }
  if (body_.score) return;
  if (bf16_) return schedule_bf16_panels();
  if (body_.query) schedule_query_panel();
  if (body_.key) schedule_key_panel();
}

void SoftmaxStage::schedule_query_panel() {
  per_tile(query_panel_);
  if (body_.over.empty()) return;
  const Var last(body_.over.back()), vector("vector_of_query-"), lane("lane_of_query-");
  query_panel_.split(last, vector, lane, tiles_.lanes, TailStrategy::GuardWithIf).vectorize(lane);
  const int extent = fixed_value(extents_.at(body_.over.back())).value_or(0), vectors = extent / tiles_.lanes;
  if (vectors > 0 && vectors <= most_unrolled_vectors && extent % tiles_.lanes == 0) query_panel_.bound_extent(last, extent).unroll(vector);
}

/// Computed once for each index of these batch dims.
void SoftmaxStage::per_batch_index(Func& panel, const Exprs& batch) {
  if (batch.empty())
    panel.compute_root();
  else
    panel.compute_at(out_, Var(batch[0].as<Halide::Internal::Variable>()->name));
}

/// Each key's row from beginning to end, whatever groups its vectors go to: prefetchers follow it.
void SoftmaxStage::schedule_copied_vectors(Func& copy) {
  copy.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  if (!is_state_unrolled()) return;
  const int group = vectors_in_group();
  copy.bound_extent(vector_, group).unroll(vector_).bound_extent(vector_group_, (vectors_ + group - 1) / group).unroll(vector_group_);
}

void SoftmaxStage::schedule_key_panel() {
  per_batch_index(key_panel_, key_batch_);
  key_panel_.bound_extent(column_, tiles_.panel());
  if (!turns_keys_in_registers()) {
    key_panel_.vectorize(column_, tiles_.lanes);
    return;
  }
  const int edge = tiles_.square_of_keys();
  const Var columns("columns-"), in_columns("in_columns-"), square("square-"), in_square("in_square-"), last(body_.over.back());
  key_panel_.split(column_, columns, in_columns, edge).split(last, square, in_square, edge, TailStrategy::RoundUp);
  std::vector<VarOrRVar> order = {in_columns, in_square, square};
  for (auto dim = body_.over.rbegin() + 1; dim != body_.over.rend(); ++dim) order.emplace_back(Var(*dim));
  order.insert(order.end(), {columns, panel_});
  key_panel_.reorder(order).vectorize(in_columns).unroll(in_square);
  turned_keys_.schedule(key_panel_, square);
  schedule_prefetched_keys(square);
}

void SoftmaxStage::schedule_pass(SoftmaxPass& pass) {
  const Halide::RVar block = pass.block();
  Halide::Stage update = state_.update(pass.update);
  update.reorder(lane_, pass.blocks[0], row_, row_group_, block).vectorize(lane_);
  if (is_state_unrolled()) update.unroll(pass.blocks[0]);
  for (const VarOrRVar& loop : {VarOrRVar(row_), VarOrRVar(row_group_), VarOrRVar(block)}) update.partition(loop, Partition::Never);
  schedule_scores(pass);
  schedule_weights(pass);
  if (pass.partial.defined()) schedule_partial(pass);
}

/// Sums of register_rows x a panel in registers; each then goes through body.change and the mask on its way to memory.
/// A term that takes many operations of its own keeps the sums of one vector of keys only.
void SoftmaxStage::schedule_scores(SoftmaxPass& pass) {
  const Var vector_of_keys("vector_of_keys-"), lane_of_keys("lane_of_keys-");
  // All groups of rows take a panel of keys, which stays in the first-level cache, before those of the next.
  Func& scores = per_block(pass.scores, pass, pass.by_row_groups);
  scores.bound_extent(column_, tiles_.panel()).bound_extent(panel_, tiles_.panels(pass.key_tile));
  if (!pass.weights.defined()) keep_rows_apart(scores, panel_, tiles_.panels(pass.key_tile));
  scores.split(column_, vector_of_keys, lane_of_keys, tiles_.lanes).vectorize(lane_of_keys);
  if (!pass.product.defined() || body_.combine) {
    scores.reorder(lane_of_keys, row_, vector_of_keys, row_group_, panel_).unroll(row_);
  } else {
    scores.reorder(lane_of_keys, vector_of_keys, row_, row_group_, panel_).unroll(vector_of_keys);
    if (!tiles_.in_matrix_tiles) scores.unroll(row_);
  }
  if (!pass.product.defined()) return;
  if (pass.panel_maximum.defined()) {
    Func& maximum = per_block(pass.panel_maximum, pass, pass.by_row_groups);
    maximum.bound_extent(lane_, tiles_.lanes).bound_extent(panel_, tiles_.panels(pass.key_tile)).vectorize(lane_);
    maximum.reorder(lane_, row_, row_group_, panel_);
    // Products in memory are read row by row.
    if (tiles_.in_matrix_tiles)
      maximum.compute_with(scores, row_);
    else
      maximum.unroll(row_).compute_with(scores, row_group_);
  }

  if (bf16_) return schedule_bf16_product(pass);
  Func& product = pass.product;
  std::vector<VarOrRVar> order = {lane_of_keys, vector_of_keys, row_};
  for (int n = 0; n < pass.over.dimensions(); ++n) order.emplace_back(pass.over[n]);
  if (body_.combine)
    product.compute_at(scores, vector_of_keys);
  else
    product.compute_at(scores, row_group_).bound_extent(column_, tiles_.panel());
  product.bound_extent(row_, tiles_.rows);
  schedule_prefetched_scores(pass);
  const TailStrategy exact = TailStrategy::RoundUp;
  product.split(column_, vector_of_keys, lane_of_keys, tiles_.lanes, exact).vectorize(lane_of_keys).unroll(vector_of_keys).unroll(row_);
  product.update().split(column_, vector_of_keys, lane_of_keys, tiles_.lanes, exact).reorder(order);
  product.update().vectorize(lane_of_keys).unroll(vector_of_keys).unroll(row_);
}

void SoftmaxStage::schedule_weights(SoftmaxPass& pass) {
  if (body_.has_softmax) schedule_reference(pass);
  for (Func* f : {&pass.exact_weights, &pass.weights, &pass.changed_weights}) {
    if (!f->defined()) continue;
    const Var vector_of_keys("vector_of_keys-"), lane_of_keys("lane_of_keys-");
    per_row_group(*f, pass).bound_extent(column_, tiles_.panel());
    keep_rows_apart(*f, panel_, tiles_.panels(pass.key_tile));
    f->split(column_, vector_of_keys, lane_of_keys, tiles_.lanes).reorder(lane_of_keys, vector_of_keys, panel_, row_, row_group_);
    f->vectorize(lane_of_keys).unroll(vector_of_keys);
  }
  if (!pass.sum_by_lane.defined()) return;
  per_row_group(pass.sum_by_lane, pass).bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  // Rows in turn: the sums of one wait for each other, four cycles each on Intel's cores.
  pass.sum_by_lane.update().reorder(lane_, pass.row_vectors.x, row_, pass.row_vectors.y, row_group_);
  pass.sum_by_lane.update().vectorize(lane_).unroll(pass.row_vectors.x).unroll(row_);
}

/// Sums of register_rows x register_vectors in registers over all keys of the block.
void SoftmaxStage::schedule_partial(SoftmaxPass& pass) {
  if (bf16_) return schedule_bf16_partial(pass);
  if (pass.values.defined()) {
    pass.values.compute_at(state_, pass.block()).bound_storage(key_block_, 1);
    pass.values.bound_extent(column_, tiles_.panel()).bound_extent(panel_, tiles_.panels(pass.key_tile));
    pass.values.reorder(lane_, vector_, vector_group_, column_, panel_);
    schedule_copied_vectors(pass.values);
  }
  Func& partial = per_row_group(pass.partial, pass);
  partial.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  if (has_sums_of_groups(pass)) {
    const Var vector_in_group("vector_in_group-");
    partial.bound_extent(vector_, vectors_).split(vector_, vector_group_, vector_in_group, vectors_in_group());
    partial.reorder(lane_, vector_in_group, row_, vector_group_, row_group_).unroll(vector_in_group).unroll(row_);
    Func& sums = pass.group_sums;
    sums.compute_at(partial, vector_group_)
        .bound_extent(lane_, tiles_.lanes)
        .bound_extent(vector_, vectors_in_group())
        .bound_extent(row_, tiles_.rows);
    sums.vectorize(lane_).unroll(vector_).unroll(row_);
    sums.update().reorder(lane_, vector_, row_, pass.whole[0], pass.whole[1]).vectorize(lane_).unroll(vector_).unroll(row_);
    return;
  }
  // Distances between a tile's sums must be constants, or LLVM keeps them in memory: an unknown extent goes outermost.
  if (!fixed_depth_) partial.reorder_storage({lane_, row_, row_group_, vector_});
  const auto in_registers = [&](Halide::Stage sums, const Halide::RDom& keys) {
    if (sums_by_panels(pass))
      sums.reorder(lane_, keys[0], row_, keys[1], row_group_, keys[2], keys[3]);
    else
      sums.reorder(lane_, keys[0], row_, keys[1], keys[2], row_group_, keys[3]);
    sums.vectorize(lane_).unroll(keys[0]).unroll(row_);
  };
  in_registers(partial.update(0), pass.whole);
  for (std::size_t n = 0; n < pass.rest.size(); ++n) in_registers(partial.update(static_cast<int>(n) + 1), pass.rest[n]);
}

}  // namespace attune
