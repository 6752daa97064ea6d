// Products of bf16 in tile registers (codegen/halide/rewrites/matrix_tiles.h): 16 queries by 16 keys, or by 16 of value_depth, each.
#include <algorithm>

#include "codegen/halide/numbers/bf16.h"
#include "codegen/halide/rewrites/matrix_tiles.h"
#include "schedules/common/matrix_loops.h"
#include "schedules/common/tiles.h"
#include "schedules/online_softmax/online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::MemoryType;
using Halide::RDom;
using Halide::Var;

namespace attune {
/// What a contracted dim is filled up to a multiple of.
int SoftmaxStage::pair_padding() const { return tiles_.in_matrix_tiles ? tile_depth : 2; }

Expr SoftmaxStage::matrix_product(SoftmaxPass& pass) {
  pass.over = RDom({{0, 2}, {0, tile_pairs}, {0, tiles_of(extents_.at(body_.over[0]), tile_depth)}}, pass.named("over"));
  const Expr pair = pass.over[2] * tile_pairs + pass.over[1], panel = key_block_ * tiles_.panels(pass.key_tile) + panel_;
  const Expr query = query_pairs_(joined({pass.over[0], pair, row_, row_group_, query_tile_}, batch_));
  const Expr key = key_pairs_(joined({pass.over[0], column_, pair, panel}, key_batch_));
  pass.product = Func(pass.named("product"));
  pass.product(per_row({column_, panel_})) = 0.f;
  pass.product(per_row({column_, panel_})) += number_of_bits(query) * number_of_bits(key);
  pass.whole_product = Func(pass.named("whole_product"));
  pass.whole_product(per_row({column_, panel_})) = pass.product(per_row({column_, panel_}));
  return pass.whole_product(per_row({column_, panel_})) * bf16_->factor;
}

void SoftmaxStage::define_matrix_partial(SoftmaxPass& pass) {
  const Func weights = pass.summed_weights();
  const int panels = tiles_.panels(pass.key_tile), steps = tiles_.panel() / tile_depth;
  pass.whole = RDom({{0, 2}, {0, tile_pairs}, {0, steps}, {0, panels}}, pass.named("whole"));
  const Expr pair = pass.whole[2] * tile_pairs + pass.whole[1];
  const Expr weight = number_of_bits(weights(per_row({pair * 2 + pass.whole[0], pass.whole[3]})));
  const Expr value = number_of_bits(value_pairs_(joined({pass.whole[0], lane_, vector_, pair, key_block_ * panels + pass.whole[3]}, value_batch_)));
  pass.group_sums = Func(pass.named("group_sums"));
  pass.group_sums(per_row({lane_, vector_})) = 0.f;
  pass.group_sums(per_row({lane_, vector_})) += weight * value;
  pass.partial = Func(pass.named("partial"));
  pass.partial(per_row({lane_, vector_})) = pass.group_sums(per_row({lane_, vector_}));
}

void SoftmaxStage::schedule_matrix_product(SoftmaxPass& pass) {
  Func &whole = pass.whole_product, &product = pass.product;
  // With rows behind columns, so that how far rows lie apart is a constant.
  for (Func* f : {&whole, &product}) f->bound_extent(column_, tiles_.panel()).bound_extent(row_, tiles_.rows).reorder_storage(column_, row_, panel_);
  whole.compute_at(pass.scores, row_group_);
  whole.reorder(in_tiles(whole, column_, row_));
  product.compute_at(pass.scores, row_group_).store_in(MemoryType::AMXTile);
  product.reorder(in_tiles(product, column_, row_));
  sum_in_tiles(product.update(), column_, row_, {pass.over[0], pass.over[1]}, {pass.over[2]});
}

/// A group of vectors at a time. Where the last group is not full, it sums what nothing reads: a sum waits three times as long for the one before as an
/// instruction takes, so one tile is no faster than three.
void SoftmaxStage::schedule_matrix_partial(SoftmaxPass& pass) {
  const int group = vectors_in_group();
  const Var vector_in_group("vector_in_group-");
  Func &partial = per_row_group(pass.partial, pass), &sums = pass.group_sums;
  partial.bound_extent(lane_, tiles_.lanes).bound_extent(vector_, tiles_of(vectors_, group) * group).split(vector_, vector_group_, vector_in_group, group);
  const Var row_tile("row_tile-"), row_in_tile("row_in_tile-");
  partial.split(row_, row_tile, row_in_tile, tile_rows, Halide::TailStrategy::RoundUp);
  partial.reorder(lane_, row_in_tile, vector_in_group, row_tile, vector_group_, row_group_);
  partial.vectorize(lane_).vectorize(row_in_tile).unroll(vector_in_group).unroll(row_tile);
  sums.compute_at(partial, vector_group_).store_in(MemoryType::AMXTile);
  sums.bound_extent(lane_, tiles_.lanes).bound_extent(vector_, group).bound_extent(row_, tiles_.rows);
  for (Halide::Stage stage : {Halide::Stage(sums), sums.update()}) {
    stage.split(row_, row_tile, row_in_tile, tile_rows, Halide::TailStrategy::RoundUp);
    stage.vectorize(lane_).vectorize(row_in_tile).unroll(vector_).unroll(row_tile);
  }
  sums.reorder(lane_, row_in_tile, vector_, row_tile);
  sums.update().reorder(pass.whole[0], pass.whole[1], lane_, row_in_tile, vector_, row_tile, pass.whole[2], pass.whole[3]);
}

}  // namespace attune
