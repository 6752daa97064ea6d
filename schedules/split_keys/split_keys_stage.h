/// The Funcs of a split_keys stage over tile dims, and their schedule; used by split_keys*.cpp alone.
#pragma once

#include <limits>
#include <set>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/prefetch.h"
#include "schedules/common/row_result.h"
#include "schedules/common/scores.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

namespace attune {

struct SplitTiles {
  int lanes, split_tile, key_tile, rows, row_groups, keys, vectors;
  PrefetchInto prefetch;
  int sums;  ///< vectors of results that a tile keeps in registers
};

/// Where vectors hold the elements of a dim. Those of the first `paired` vectors lie in pairs of bf16 in memory: a vector of words gives
/// the even ones of 2 x lanes elements to vector 2 p and the odd ones to vector 2 p + 1. The other vectors hold theirs in order.
struct LanePlaces {
  int lanes;
  Halide::Expr paired = 0;

  Halide::Expr element(const Halide::Expr& lane, const Halide::Expr& vector) const;
  Halide::Expr lane(const Halide::Expr& element) const;
  Halide::Expr vector(const Halide::Expr& element) const;
};

/// A part of the sum over the contracted dims; its loops are [vectors along the last dim, other dims..], or [2, pairs of vectors, other
/// dims..].
struct ProductPart {
  Halide::RDom over;
  bool is_paired;
};

/// Funcs of a block of keys end in the dims row, row_group, block, row_tile, split, batch.., innermost first; `batch` are the dims that keys or
/// values have, a row is any of the others and a query.
class SplitKeysStage {
 public:
  SplitKeysStage(const OnlineSoftmax& body, const Extents& extents, const SplitTiles& tiles);
  Stored build();

 private:
  // split_keys.cpp: what is computed
  void define_query_panel();
  void define_scores();
  void define_weights();
  void define_powers(const Exprs& lane_of_vector);
  void define_partial();
  void define_out();
  Halide::Expr value_at(const Halide::Expr& vector, const Halide::Expr& key, bool is_whole) const;
  Halide::Expr key_at(const Halide::Expr& place) const;
  Halide::Expr row_index() const;
  Halide::Expr first_key() const;
  Halide::Expr is_visited(const Halide::Expr& block) const;
  Coordinates batch_coordinates() const;
  Coordinates row_coordinates() const;
  Exprs per_row(Exprs inner) const;
  const Halide::Func& weights() const { return body_.has_softmax ? weights_ : scores_; }
  Exprs per_key(Exprs inner) const;

  // split_keys_states.cpp: states of rows
  void define_splits();
  void define_sums(const Exprs& at, const Exprs& row);
  void define_merge(const Exprs& row, const Exprs& row_of_split);
  void define_added(const Exprs& row, const Exprs& row_of_split);
  void define_total(const Exprs& row);

  // split_keys_product.cpp: products of queries and keys
  void define_product();
  std::set<int> boundaries_of_keys() const;
  Halide::Expr term(const ProductPart& part, const Halide::Expr& first_vector, bool is_whole);

  // split_keys_pairs.cpp: keys and values of bf16
  void find_pairs();
  int results_in_registers(bool in_pairs) const;
  int keys_in_registers() const;
  static Halide::Expr bf16_element(const Piece& piece, const std::string& dim, Coordinates at, const Halide::Expr& first,
                                   const Halide::Expr& part);
  Halide::Expr paired_value_at(const Halide::Expr& pair, const Halide::Expr& part, const Halide::Expr& key) const;

  // split_keys_ahead.cpp: what is prefetched before it is read
  Halide::Expr key_ahead(const Halide::Expr& place, const Halide::Expr& extent) const;
  Halide::Expr prefetch_ahead(const Piece& piece, Coordinates at, const Halide::RVar& along) const;
  Halide::Expr prefetch_key();
  Halide::Expr prefetching_value(const Halide::Expr& value, const Halide::Expr& number, const Halide::Expr& index, const Halide::Expr& key,
                                 bool in_pairs) const;
  void schedule_prefetched_key();

  // split_keys_schedule.cpp: when and where it is computed
  void schedule_out();
  void schedule_splits();
  void schedule_scores();
  void schedule_weights();
  void schedule_maximum();
  void schedule_partial();
  Halide::Func& per_block(Halide::Func& f);

  static constexpr float lowest = std::numeric_limits<float>::lowest();  // no score is less

  const OnlineSoftmax& body_;
  const Extents& extents_;
  const SplitTiles tiles_;
  const Halide::Expr keys_, depth_;        ///< extents; of value_depth
  const Exprs batch_;                      ///< Vars, innermost first
  const Flat rows_;                        ///< the dims of rows
  const Halide::Expr all_row_groups_, row_tiles_, row_groups_, splits_;  ///< how many; of a tile
  bool keys_are_whole_;                    ///< the last dim of body.over is a multiple of a vector
  LanePlaces key_places_, value_places_;   ///< of the last dim of body.over, of value_depth

  Halide::Var lane_{"lane-"}, vector_{"vector-"}, key_{"key-"};
  Halide::Var row_{"row-"}, row_group_{"row_group-"}, block_{"block-"}, row_tile_{"row_tile-"}, split_{"split-"};
  RowLines lines_;  ///< of a later key
  Halide::RDom across_, block_vectors_, lanes_, whole_, blocks_, all_splits_, state_lanes_;
  std::vector<Halide::RDom> rests_;
  std::vector<ProductPart> product_parts_;
  Halide::Func place_{"place"};                          ///< [row, row_group, row_tile] the coordinates of a row, where rows have several dims
  Halide::Func query_panel_{"query_panel"};              ///< [lane, over.., row, row_group, row_tile, batch..]
  Halide::Func later_key_{"asked_key"};                  ///< [key, block, split, batch..] prefetches a later key
  Halide::Func product_{"product"};                      ///< [lane, key, ..] sums along the last dim of body.over, by lane
  Halide::Func product_sum_{"product_sum"};              ///< [key, ..] of product over the lanes
  Halide::Func scores_{"scores"};                        ///< [key, ..] base 2, without a softmax the weights; hidden where not visible
  Halide::Func maximum_by_lane_{"maximum_by_lane"};      ///< [lane, ..]
  Halide::Func maximum_{"maximum"};                      ///< [..]
  Halide::Func reference_{"reference"};                  ///< [..] maximum, rounded up to a whole number
  Halide::Func weights_{"weights"};                      ///< [key, ..] 2^(scores - reference)
  Halide::Func changed_weights_{"changed_weights"};      ///< [key, ..] after body.weight
  Halide::Func sum_by_lane_{"sum_by_lane"};              ///< [lane, ..] of weights
  Halide::Func partial_{"partial"};                      ///< [lane, vector, ..] sum over the block of weight * value
  Halide::Func state_{"state"};                          ///< [lane, vector, row, row_group, row_tile, split, batch..] (o, m, l), l by lane, and the greatest score if it is wanted; without a softmax (o, l) or o
  Halide::Func split_state_{"split_state"};              ///< the state behind the last block
  Halide::Func maximum_of_splits_{"maximum_of_splits"};  ///< [row, row_group, row_tile, batch..] M
  Halide::Func greatest_{"greatest"};                    ///< [row, row_group, row_tile, batch..] score, where it is wanted
  Halide::Func total_by_lane_{"total_by_lane"};          ///< [lane, row, row_group, row_tile, batch..]
  Halide::Func total_{"total"};                          ///< [row, row_group, row_tile, batch..]
  Halide::Func kept_total_{"kept_total"};                ///< the same, where something is stored of its row
  const StoredRows stored_rows_;
  Halide::Func sum_{"sum"};                              ///< [lane, vector, row, row_group, row_tile, batch..]
  Halide::Func out_{"split_keys"};
};

}  // namespace attune
