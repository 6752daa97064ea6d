/// The Funcs of an online_softmax stage over tile dims, and their schedule; used by online_softmax.cpp alone.
#pragma once

#include <optional>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/prefetch.h"
#include "schedules/common/row_result.h"
#include "schedules/common/scores.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/turned_squares.h"
#include "schedules/online_softmax/bf16_operands.h"
#include "schedules/online_softmax/online_softmax_pass.h"
#include "schedules/online_softmax/softmax_tiles.h"
#include "schedules/online_softmax/tile_order.h"

namespace attune {

class SoftmaxStage {
 public:
  SoftmaxStage(const OnlineSoftmax& body, const Extents& extents, const SoftmaxTiles& tiles);
  Stored build();
  bool is_of_bf16() const { return bf16_.has_value(); }

 private:
  // online_softmax.cpp: what is computed
  Coordinates panel_coordinates() const;
  bool turns_keys_in_registers() const;
  void define_panels();
  void define_passes();
  void define_out();
  Coordinates batch_coordinates() const;
  Halide::Expr clamped_row() const;
  Span rows_of_tile() const;
  Span rows_of_group() const;
  Visibility visibility(const Span& rows, const Halide::Expr& block, int key_tile) const;
  bool knows_visible_blocks() const;
  Halide::Expr may_be_visible_throughout(const Halide::Expr& block, int key_tile) const;
  Halide::Expr is_whole_block(const Halide::Expr& block, int key_tile) const;
  bool takes_all_whole_blocks(int key_tile) const;
  bool has_visibility() const;
  TileOrder tile_order() const;

  // online_softmax_pass.cpp: one update of the state
  void define_pass(const KeyBlocks& blocks);
  void define_scores(SoftmaxPass& pass);
  Halide::Expr raw_score(SoftmaxPass& pass, const Coordinates& at);
  Halide::Expr is_visible(const SoftmaxPass& pass, const Coordinates& at) const;
  void define_weights(SoftmaxPass& pass);
  void define_powers(SoftmaxPass& pass);
  void define_changed_weights(SoftmaxPass& pass, const std::function<Halide::Expr(const Exprs& place)>& unchanged);
  Exprs lane_of(const Halide::RDom& vectors) const;
  Halide::Expr weighted_value(const SoftmaxPass& pass, const SummedPlace& at) const;
  void define_partial(SoftmaxPass& pass);
  void define_update(const SoftmaxPass& pass);
  Halide::Expr place_of(const SoftmaxPass& pass, const Halide::Expr& column, const Halide::Expr& panel) const;
  Halide::Expr exists(const SoftmaxPass& pass, const Halide::Expr& column, const Halide::Expr& panel) const;
  Halide::Expr key_of(const SoftmaxPass& pass, const Halide::Expr& column, const Halide::Expr& panel) const;
  Halide::Expr value_at(const Halide::Expr& depth, const Halide::Expr& key) const;
  int vectors_in_group() const;
  std::vector<VectorGroups> last_vectors(int most) const;
  bool values_are_in_place() const;
  bool copies_values() const { return tiles_.copy_values && !bf16_ && !body_.value.dims.empty(); }
  bool reads_copies(const SoftmaxPass& pass) const { return copies_values() || pass.values.defined(); }
  Halide::Expr copied_depth() const;
  Exprs per_row(Exprs inner) const;

  // online_softmax_reference.cpp: what powers are relative to
  void define_reference(SoftmaxPass& pass);
  void schedule_reference(SoftmaxPass& pass);
  Exprs per_row_of_tile() const { return joined({row_, row_group_, query_tile_}, batch_); }

  // online_softmax_ahead.cpp: what is prefetched before it is read
  Halide::Expr prefetch_key(const Exprs& panel);
  void schedule_prefetched_keys(const Halide::Var& square);
  Halide::Expr prefetch_query(SoftmaxPass& pass);
  void schedule_prefetched_queries(SoftmaxPass& pass);
  Halide::Expr prefetch_read_scores(SoftmaxPass& pass);
  void schedule_prefetched_scores(SoftmaxPass& pass);

  // online_softmax_bf16.cpp: products of bf16 pairs
  std::optional<Bf16Operands> bf16_operands() const;
  void define_bf16_panels();
  Halide::Expr bf16_product(SoftmaxPass& pass);
  void define_bf16_partial(SoftmaxPass& pass);
  void schedule_bf16_panels();
  void schedule_bf16_product(SoftmaxPass& pass);
  void schedule_bf16_partial(SoftmaxPass& pass);
  /// Values are multiplied by weights of bf16.
  bool rounds_weights() const;
  Halide::Expr stored_weight(const Halide::Expr& weight) const;
  Halide::Expr loaded_weight(const Halide::Expr& stored) const;

  // online_softmax_matrix.cpp: the same in tile registers
  int pair_padding() const;
  Halide::Expr matrix_product(SoftmaxPass& pass);
  void define_matrix_partial(SoftmaxPass& pass);
  void schedule_matrix_product(SoftmaxPass& pass);
  void schedule_matrix_partial(SoftmaxPass& pass);

  // online_softmax_schedule.cpp: when and where it is computed
  void schedule_out();
  int state_vectors_beside() const;
  bool is_state_unrolled() const;
  void schedule_panels();
  void schedule_query_panel();
  void schedule_key_panel();
  void schedule_copied_vectors(Halide::Func& copy);
  void per_batch_index(Halide::Func& panel, const Exprs& batch);
  void schedule_pass(SoftmaxPass& pass);
  void schedule_scores(SoftmaxPass& pass);
  void schedule_weights(SoftmaxPass& pass);
  void schedule_partial(SoftmaxPass& pass);
  Halide::Func& per_tile(Halide::Func& f);
  Halide::Func& per_block(Halide::Func& f, const SoftmaxPass& pass, bool by_row_groups);
  Halide::Func& per_row_group(Halide::Func& f, const SoftmaxPass& pass);
  bool sums_by_panels(const SoftmaxPass& pass) const;
  bool has_sums_of_groups(const SoftmaxPass& pass) const;

  const OnlineSoftmax& body_;
  const Extents& extents_;
  const SoftmaxTiles tiles_;
  const Halide::Expr queries_, keys_, depth_;  ///< extents
  const Halide::Expr vectors_;                 ///< of value_depth, the last of which may not be full
  std::optional<int> fixed_depth_;             ///< the extent of value_depth where it is a constant
  Exprs batch_, key_batch_, value_batch_;      ///< Vars of the batch dims that the result, key and value have, innermost first

  Halide::Var pair_{"pair-"}, lane_{"lane-"}, vector_{"vector-"}, vector_group_{"vector_group-"}, column_{"column-"}, panel_{"panel-"}, key_{"key-"};
  Halide::Var row_{"row-"}, row_group_{"row_group-"}, key_block_{"key_block-"}, query_tile_{"query_tile-"};
  TileOrder tile_order_ = TileOrder::first_to_last;
  const std::optional<Bf16Operands> bf16_;   ///< not there: the arithmetic is f32
  Halide::Func query_panel_{"query_panel"};  ///< [over.., row, row_group, query_tile, batch..]
  Halide::Func key_panel_{"key_panel"};      ///< [column, over.., panel, key's batch..]
  TurnedSquares turned_keys_;                ///< the same elements, loaded along the last of over
  Halide::Func later_keys_{"asked_keys"};    ///< [column, square along the last of over, ..] prefetches a later key
  Halide::Func value_panel_{"value_panel"};  ///< [lane, vector of group, key, vector group, value's batch..] where all values are copied
  Halide::Func query_pairs_{"query_pairs"};  ///< [pair, pair of over, row, row_group, query_tile, batch..] bf16
  Halide::Func key_pairs_{"key_pairs"};      ///< [pair, column, pair of over, panel, key's batch..] bf16
  Halide::Func value_pairs_{"value_pairs"};  ///< [pair, lane, vector, pair of columns, panel, value's batch..] bf16; pairs of keys
  Halide::Func state_{"state"};              ///< [lane, vector, row, row_group, query_tile, batch..] of o, l by lane if kept, the greatest score if wanted
  Halide::Func reference_{"reference"};      ///< [row, row_group, query_tile, batch..] m, which passes store over; only of a softmax
  Halide::Func total_{"total"}, kept_total_{"kept_total"};  ///< [row, row_group, query_tile, batch..] l, the latter where something is stored of its row
  const StoredRows stored_rows_;
  std::vector<SoftmaxPass> passes_;
  Halide::Func out_{"online_softmax"};
};

}  // namespace attune
