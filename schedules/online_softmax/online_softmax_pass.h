/// What one update of an online softmax's state computes: the Funcs of a pass over key blocks of one size.
#pragma once

#include <string>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/prefetch.h"

namespace attune {

/// Key blocks of one size.
struct KeyBlocks {
  int key_tile;
  bool has_mask;        ///< evaluates body.visible
  bool has_tail;        ///< blocks may reach beyond the last key
  bool by_row_groups;   ///< what is computed of a block, is so for one group of rows after the other, and not of groups that see nothing
  Halide::RDom blocks;  ///< [vectors of the state, blocks]; visited where its predicate holds
  Halide::RVar block() const { return blocks[1]; }
};

/// A vector of value_depth, and a key, by its column of a panel.
struct SummedPlace {
  Halide::Expr vector, column, panel;
};

/// `count` groups of `size` vectors of value_depth, from `first` on.
struct VectorGroups {
  int size;
  Halide::Expr first, count;
};

/// One update of the state, over key blocks of one size, and what it computes of each of them.
/// All Funcs end in the dims row, row_group, key_block, query_tile, batch.., innermost first.
struct SoftmaxPass : KeyBlocks {
  explicit SoftmaxPass(const KeyBlocks& visited) : KeyBlocks(visited) {}
  std::string named(const char* name) const { return std::string(name) + (has_mask ? "_masked_" : "_") + std::to_string(key_tile); }

  int update = 0;  ///< of the state

  Halide::Func product;          ///< [column, panel, ..] sum over body.over; lives in registers
  Halide::Func whole_product;    ///< the same in memory, where the product lives in tile registers
  Halide::Func scores;           ///< [column, panel, ..] base 2, without a softmax the weights or what these are made of; hidden where not visible
  Halide::Func panel_maximum;    ///< [lane, panel, ..] of scores, taken while these are in registers; only where they are the product
  Halide::Func maximum_by_lane;  ///< [lane, ..]
  Halide::Func maximum;          ///< [..]
  Halide::Func scale;            ///< [..] 2^(reference before the block - reference), which the state is multiplied by
  Halide::Func raised;           ///< [..] stores nothing itself: where a reference changes, it is stored
  Halide::Func asked_scores;     ///< [panel, ..] prefetches what scores read by query and key
  Halide::Func later_queries;    ///< [..] prefetches the next tile's query
  Halide::Func exact_weights;    ///< [column, panel, ..] 2^(scores - reference), where weights are bf16 and the total's logarithm is wanted
  Halide::Func weights;          ///< [column, panel, ..] 2^(scores - reference), as stored_weight says
  Halide::Func changed_weights;  ///< [column, panel, ..] after body.weight, without a softmax of scores
  Halide::Func sum_by_lane;      ///< [lane, ..] of weights
  Halide::Func values;           ///< [lane, vector in group, column, panel, vector group, key_block, batch..] a copy, where the tensor is not read in place
  Halide::Func partial;          ///< [lane, vector, ..] sum over the block of weight * value
  Halide::Func group_sums;       ///< [lane, vector, ..] the same of a group of vectors, in registers; only where has_sums_of_groups
  /// Those that values are multiplied by.
  const Halide::Func& summed_weights() const { return changed_weights.defined() ? changed_weights : weights.defined() ? weights : scores; }
  RowLines lines;                ///< of the next tile's query
  RowLines read_lines;           ///< of what a panel's scores read
  Halide::RDom over, row_vectors, maximum_vectors, across, whole, raising;
  std::vector<Halide::RDom> rest;  ///< whole, of last_vectors()
};

}  // namespace attune
