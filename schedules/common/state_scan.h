/// What templates of recurrences have in common: states in memory, which loops over tokens change where they stand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

namespace attune {

/// How tokens and columns are cut: `columns` of a state to a task, chunks of `rows` times `row_blocks` tokens. Each column of a task goes through all
/// tokens by itself (`is_by_column`, threads of devices), or all columns go through one token after the other.
struct ScanTile {
  int columns, rows = 1, row_blocks = 1;
  bool is_by_column = false;
  int column_block = 0;  ///< columns of narrow states are computed in whole blocks of so many, of which no more than needed; 0: all of a task's
  int tokens() const { return rows * row_blocks; }
};

/// One task carries on the state of some columns at one place of the batch, chunk by chunk. The states of all tasks stand in memory side by side;
/// each chunk changes its task's there (codegen/halide/rewrites/store_beside.h, storing_over).
struct StateScan {
  StateScan(const RecurrenceBody& body, const Extents& extents, const ScanTile& tile);

  /// Coordinates of a column of a task; of what all its columns share, of any.
  Coordinates at(const Halide::Expr& task, const Halide::Expr& column) const;
  /// What `of` makes of coordinates of column c of task n. Tasks whose columns are all there read vectors of them as they lie: columns that are clamped
  /// would be read one by one.
  Halide::Expr of_columns(const std::function<Halide::Expr(const Coordinates&)>& of) const;
  /// `at` behind coordinates of a token, which may be beyond the last.
  Coordinates at(const Halide::Expr& task, const Halide::Expr& column, const Halide::Expr& token) const;

  /// Defines the results and what walks the chunks: of a Func over [c, r, b, g, m, n] that reads the state, undefined where the state alone is
  /// wanted, and one over [c, m, n] behind which it has changed.
  void define_results(const Halide::Func& read, const Halide::Func& carried);
  /// The stage's results.
  Stored stored() const;
  /// What walks the chunks: the result, or a Func of no use where the state alone is wanted.
  Halide::Func driver() const { return body.query ? result : steps; }
  /// The loops of its update.
  Halide::RVar column_loop() const { return Halide::RVar(column.name()); }
  Halide::RVar chunk_loop() const { return Halide::RVar(chunk.name()); }
  Halide::RVar task_loop() const { return Halide::RVar(task.name()); }
  /// Those of the last state's.
  Halide::RVar last_column_loop() const { return Halide::RVar(last_column.name()); }
  Halide::RVar last_task_loop() const { return Halide::RVar(last_task.name()); }

  const RecurrenceBody body;
  const ScanTile tile;
  const Halide::Expr tokens, width;  ///< extents of `along` and `over`
  const Flat batch, group;
  const Tiled columns;
  const Halide::Expr tiles, tasks, chunks;
  const Halide::Expr used_columns;  ///< of a task
  const Halide::Var c{"column-"}, d{"channel-"}, r{"row-"}, b{"row_block-"}, g{"in_group-"}, m{"chunk-"}, n{"task-"};
  Halide::Func state{"state"};  // [c, d, n]
  Halide::Func result{"recurrence"}, last{"last_state"}, steps{"steps"};

 private:
  void define_loops();
  void define_last();

  Halide::RVar column, row, block, in_group, chunk, task, last_column, last_channel, last_task;
  Halide::RDom loops, last_loops;
};

}  // namespace attune
