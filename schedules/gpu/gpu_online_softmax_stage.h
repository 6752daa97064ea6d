/// The Funcs of attention on devices and their schedule; used by gpu_online_softmax*.cpp and gpu_split_keys.cpp alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/common/scores.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"
#include "schedules/gpu/devices.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/records/parameters.h"

namespace attune {

/// Threads are `columns` x `rows` a block. A thread has `thread_rows` queries, `thread_keys` keys of each block of keys and `thread_values` columns of
/// the result; operands are staged `over` elements of the contracted dims, and `staged_keys` values a thread, at once. With a `split_tile` a block has so
/// many keys, and the states of all splits are merged; its rows are then queries of all heads that share the keys.
struct GpuSoftmaxTiles {
  int columns, rows, thread_rows, thread_keys, thread_values, over, staged_keys, split_tile = 0;

  /// Of the parameters of these names, without a split.
  explicit GpuSoftmaxTiles(const std::vector<Parameter>& values);

  int queries() const { return rows * thread_rows; }
  int keys() const { return columns * thread_keys; }
  int values() const { return columns * thread_values; }
  bool has_splits() const { return split_tile > 0; }
  /// Elements in the memory that a block shares.
  std::int64_t shared_elements() const;
};

class GpuSoftmax {
 public:
  GpuSoftmax(const OnlineSoftmax& body, const Extents& extents, Device device, const GpuSoftmaxTiles& tiles);
  Stored build();

 private:
  BlockThreads threads() const { return {tiles_.columns, tiles_.rows, tiles_.thread_rows}; }
  /// The states of rows are stored: results beside the first, and those of splits, are made of them.
  bool has_states() const { return body_.log_sum_exp || body_.row_maximum || body_.row_total || tiles_.has_splits(); }
  bool has_product() const { return !body_.score && !body_.over.empty(); }
  Halide::Expr power(const Halide::Expr& x) const { return power_of_2_on(device_, x); }
  Halide::Expr larger(const Halide::Expr& a, const Halide::Expr& b) const { return maximum_on(device_, a, b); }
  Halide::Expr key_place(const Halide::Expr& key) const { return block_of_keys(place_of(block_), key_block_) * tiles_.keys() + key; }
  Halide::Expr key_of(const Halide::Expr& key) const { return clamped(key_place(key), keys_, false); }
  Halide::Expr key_in_block(const Halide::Expr& number, const Halide::Expr& thread) const { return number * tiles_.columns + thread; }
  Flat over() const { return {body_.over, extents_}; }
  /// How many there are: one without keys, too, so that there are states of which the result is made.
  Halide::Expr splits() const { return Halide::max(tiles_of(keys_, tiles_.split_tile), 1); }

  // gpu_online_softmax.cpp: what is computed
  /// No more columns and chunks than known extents need.
  GpuSoftmaxTiles fitted(GpuSoftmaxTiles tiles) const;
  /// The dims of the grid, of which the last is walked fastest: those of the batch that are not rows, splits of keys, tiles of columns and of rows.
  Flat blocks_of_threads() const;
  Coordinates place_of(const Halide::Expr& block) const;
  /// Of a row of the block; the last one instead of any beyond it.
  Coordinates at_row(const Halide::Expr& row) const;
  /// The column of the value tile that a thread's element is: neighbouring threads have neighbouring vectors.
  Halide::Expr column_of(const Halide::Expr& element, const Halide::Expr& thread) const;
  /// Chunks of the operands in shared memory. Beyond the contracted dims and the last key they are 0.
  void define_operands();
  bool is_whole_chunks() const;
  Coordinates score_coordinates() const;
  void define_scores();
  void define_weights();
  void define_powers();
  /// Of all blocks of keys, the one of this number in the split at these coordinates of the grid. Funcs have the number as their argument: of anything that
  /// divides an index bounds inference does not see that a block of threads needs one at a time.
  Halide::Expr block_of_keys(const Coordinates& blocks, const Halide::Expr& in_split) const;
  /// Some pair of the rows and of the block of keys of an iteration exists and may be visible; undefined where all may.
  Halide::Expr may_be_visible() const;
  /// (o for each of a thread's columns, m, l of the thread's own keys); m is the same for all threads of a row. Without a softmax there is no m, and l if it is kept.
  void define_state();
  void define_sums(const Halide::FuncRef& before, const Exprs& of_block);
  /// The place of l in the state.
  int place_of_total() const { return tiles_.thread_values + (body_.has_softmax ? 1 : 0); }
  /// How many numbers stand beside o in a state.
  int beside_sums() const { return body_.has_softmax ? 2 : keeps_total(body_) ? 1 : 0; }

  // gpu_online_softmax_stored.cpp: what is stored
  Halide::Expr total(const Halide::Expr& row, const Halide::Expr& block) const;
  /// What is stored of an element: from o, l and, in base 2, m.
  Halide::Expr result_of(const Halide::Expr& sum, const Halide::Expr& total, const Halide::Expr& reference, const Coordinates& at) const;
  /// One kernel: each block of threads stores what it has of the result.
  Stored stored_by_the_kernel();
  /// The states of all rows are stored, and what is stored of each row and element is made of them in kernels of their own.
  Stored stored_from_states();
  void store_states();
  /// From the states of a row in all splits as one: (m, l), and o of an element where the dims have a column.
  Halide::Func merged(const std::string& name, const std::vector<std::string>& dims, const std::function<Halide::Expr(const Exprs& state, const Coordinates&)>& finish) const;

  // gpu_online_softmax_schedule.cpp: when and where it is computed
  /// Everything that a block of threads computes, for the Func that it stores.
  void schedule_block(Halide::Func& kernel, const Halide::VarOrRVar& block);
  void schedule_product(Halide::Func& product);
  void schedule_shared_weights(Halide::Func& weights);
  void schedule_partial();

  static constexpr const char *row_tile = "row tile", *value_tile = "value tile", *split = "split";  ///< dims of the grid beside those of the batch

  const OnlineSoftmax& body_;
  const Extents& extents_;
  const Device device_;
  const GpuSoftmaxTiles tiles_;
  const Halide::Expr keys_, depth_;  // extents
  const Flat rows_;                  // the dims of rows
  const Flat grid_;  // all blocks of threads, as one index

  const Halide::Var in_chunk_{"in_chunk-"}, chunk_{"chunk-"}, row_{"row-"}, key_{"key-"}, column_{"column-"};
  const Halide::Var element_{"element-"}, number_{"number-"}, thread_{"thread-"};
  const Halide::Var key_block_{"key_block-"}, block_{"block-"};  // a block of keys; a block of threads
  Halide::Func query_{"query"};  // [in chunk, row, chunk, block]
  Halide::Func key_operand_{"key"};  // [in chunk, key of block, chunk, key block, block]
  Halide::Func value_{"value"};  // [column of tile, key of block, key block, block]
  Halide::Func product_{"product"}, scores_{"scores"}, weights_{"weights"}, shared_weights_{"shared_weights"};  // [number, thread, row, key block, block]
  Halide::Func thread_maximum_{"thread_maximum"}, reference_{"reference"};  // [thread, row, key block, block]
  Halide::Func partial_{"partial"};  // [element, thread, row, key block, block]
  Halide::Func state_{"state"}, totals_{"totals"};  // [thread, row, block]
  Halide::Func states_{"states"};  // [o of each column of the tile, m and l, row, block]
  Halide::RDom over_, keys_of_block_, blocks_;
};

}  // namespace attune
