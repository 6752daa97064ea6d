/// The Funcs of a whole_rows stage and their schedule; used by whole_rows.cpp alone.
#pragma once

#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/row_result.h"
#include "schedules/common/scores.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

namespace attune {

struct WholeRowsTiles {
  int lanes, rows, keys, vectors;
};

/// All Funcs end in the dims queries, batch.., innermost first.
class WholeRowsStage {
 public:
  WholeRowsStage(const OnlineSoftmax& body, const Extents& extents, const WholeRowsTiles& tiles);
  Stored build();

 private:
  // whole_rows.cpp: what is computed
  void define_query();
  void define_product();
  void define_scores();
  void define_weights();
  void define_total();
  void define_powers(const Exprs& lane_of_vector);
  void define_sum();
  void define_out();
  Halide::Expr term(const Halide::RDom& over, const Halide::Expr& last_vector, bool is_whole) const;
  Halide::Expr value_at(const Halide::Expr& vector, const Halide::Expr& key, bool is_whole) const;
  Coordinates row_coordinates() const;
  Coordinates key_coordinates() const;
  Exprs per_row(Exprs inner) const;
  const Halide::Func& weights() const { return body_.has_softmax ? weights_ : scores_; }

  // whole_rows_schedule.cpp: when and where it is computed
  void schedule_out();
  void schedule_scores();
  void schedule_product(Halide::Func& scores);
  void schedule_weights();
  void schedule_sum();
  bool are_sums_in_registers() const;
  Halide::Func& per_tile(Halide::Func& f);

  const OnlineSoftmax& body_;
  const Extents& extents_;
  const WholeRowsTiles tiles_;
  const Halide::Expr keys_, depth_;  ///< extents; of value_depth
  const Exprs batch_;                ///< Vars, innermost first
  bool over_is_whole_;               ///< the last dim of body.over is a multiple of a vector

  Halide::Var lane_{"lane-"}, vector_{"vector-"}, half_{"half-"}, key_{"key-"}, query_, query_tile_{"query_tile-"};
  Halide::RDom across_, across_half_, key_vectors_, whole_;
  std::vector<Halide::RDom> overs_, rests_;
  Halide::Func query_row_{"query_row"};              ///< [lane, over.., ..] the last of over by vectors
  Halide::Func product_{"product"};                  ///< [lane, key, ..] sums along the last dim of body.over, by lane; lives in registers
  Halide::Func product_sum_{"product_sum"};          ///< [key, ..] of product over the lanes
  Halide::Func unchanged_{"unchanged"};              ///< [key, ..] product_sum_ of all keys, so that body.change has whole vectors
  Halide::Func scores_{"scores"};                    ///< [key, ..] base 2, without a softmax the weights; hidden where not visible, and beyond the last key
  Halide::Func maximum_by_lane_{"maximum_by_lane"};  ///< [lane, ..]
  Halide::Func maximum_by_half_{"maximum_by_half"};  ///< [half, ..] of the lanes
  Halide::Func maximum_{"maximum"};                  ///< [..]
  Halide::Func weights_{"weights"};                  ///< [key, ..] 2^(scores - maximum)
  Halide::Func changed_weights_{"changed_weights"};  ///< [key, ..] after body.weight
  Halide::Func total_by_lane_{"total_by_lane"};      ///< [lane, ..] of weights
  Halide::Func total_{"total"};                      ///< [..]
  Halide::Func kept_total_{"kept_total"};            ///< the same, where something is stored of its row
  const StoredRows stored_rows_;
  Halide::Func scale_{"scale"};                      ///< [..] 1 / total
  Halide::Func sum_{"sum"};                          ///< [lane, vector, ..] of weight * value
  Halide::Func out_{"whole_rows"};
};

}  // namespace attune
