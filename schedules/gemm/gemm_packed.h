/// A product of operands that are copied into panels, as gemm_packed.cpp computes it and gemm_panels.cpp packs its operands.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "schedules/common/prefetch.h"
#include "schedules/common/turned_squares.h"
#include "schedules/gemm/gemm_cut.h"
#include "schedules/gemm/gemm_product.h"
#include "schedules/gemm/packed_columns.h"

namespace attune {

class PackedGemm {
 public:
  PackedGemm(const Product& product, const GemmTile& tile);

  Stored result();

 private:
  /// Of an operand along the contraction: elements, or words of two.
  Halide::Expr along_over() const { return words_ ? tiles_of(over_.extent(), 2) : over_.extent(); }
  /// Places of the other contracted dims: none where nothing is contracted, so that panels are empty too.
  Halide::Expr outer_places() const { return over_.outer().extent() * Halide::min(over_.extent(), 1); }
  Halide::Expr row_tiles() const { return tiles_of(p_.rows.extent(), tile_.rows); }
  /// Of a vector's lanes along the contraction, the last of which may not be full.
  Halide::Expr blocks() const { return tiles_of(along_over(), tile_.lanes); }
  /// What a packed row or column holds.
  Halide::Expr packed_over() const { return Halide::max(blocks() * over_.outer().extent(), 1) * tile_.lanes; }
  /// Adds the coordinates of the `index`th of these.
  void place_over(const Halide::Expr& outer, const Halide::Expr& index, Coordinates& at) const;
  /// What a panel holds of the operand there; `is_lane` says that the index is one of a vector's, of which only the last may be too large.
  Halide::Expr packed(const Piece& piece, const Halide::Expr& outer, const Halide::Expr& index, bool is_lane, Coordinates& at) const;
  /// b is in memory, and its rows along the columns are as long as a panel.
  bool are_columns_in_panels() const;
  void define_row_panel();
  void define_column_panel();
  /// What prefetches that of b's rows which is read next. Undefined if b is not in memory that others wrote.
  Halide::Expr prefetch_ahead();
  /// The same where b's rows lie along the columns.
  Halide::Expr prefetch_rows_ahead();
  /// Of b, for column j of tile jo.
  Halide::Expr column_element(const Halide::Expr& lane, const Halide::Expr& block, const Halide::Expr& outer);
  bool adds_slices() const;
  std::vector<Halide::Expr> sum_of(const Halide::Expr& row) const;
  void define_sums();
  /// Where a sum's slice is: which one along the blocks, and which of places of the other contracted dims.
  struct SlicePlace {
    Halide::Expr along, outer;
  };
  SlicePlace slice_place() const;
  /// The loops of a product: lanes, blocks of the slice, its places of the other contracted dims, and those added.
  Halide::RDom slice_loops(const std::string& name, const Halide::Region& added = {}) const;
  Halide::Expr block_of(const Halide::Expr& place) const { return slice_place().along * cut_.slice + place; }
  Halide::Expr outer_of(const Halide::Expr& place) const { return slice_place().outer * cut_.outer_slice + place; }
  /// Adds an update of slice_loops().
  void add_product(const Halide::RDom& loops, const Halide::Expr& row);
  /// Tiles with more than `more_than` rows, and `rows` at most.
  Halide::Expr has_rows(int more_than, int rows) const;
  void add_product(const Halide::Expr& lane, const Halide::Expr& row, const Halide::Expr& block, const Halide::Expr& outer);
  /// sum + the product of what panels hold.
  Halide::Expr with_product(const Halide::Expr& sum, const Halide::Expr& row, const Halide::Expr& column) const;
  void define_matrix_sums();
  void schedule_matrix_sums();
  void define_result();
  /// Adds the loops of the result, and gives the coordinates of the batch in them.
  Coordinates define_loops();
  void schedule_result();
  void schedule_sums();
  /// Of b that are read to their end together while they are transposed.
  int rows_at_once() const { return std::min(tile_.lanes, 8); }
  /// Tasks of about as many elements each pack the panels, `breadth` wide.
  void split_into_tasks(Halide::Func& panels, const Halide::Var& tile, const Halide::Var& panel, const Halide::Var& task, int breadth);
  void schedule_row_panel();
  void schedule_column_panel();

  /// The Func's arguments: these, then the batch dims that the piece has.
  template <class Index>
  std::vector<Index> with_batch(std::vector<Index> first, const Piece& piece) const;
  Coordinates batch_coordinates() const;

  const Product& p_;
  const Gemm& body_;
  const GemmTile tile_;
  const int width_;
  const Tiled over_;
  const PackedColumns columns_;
  const std::optional<Halide::Expr> words_;  ///< panels are of words of two elements of bf16: the factor of their products
  const bool columns_in_place_;
  std::vector<std::string> own_batch_;  ///< the batch dims that b lacks: all their products read the same columns

  // k counts a vector's lanes along the contraction (along_over), kb its blocks, ko what the other contracted dims are at;
  // i and j count in a tile, io and jo tiles.
  Halide::Var k_{"k-"}, kb_{"kb-"}, ko_{"ko-"}, i_{"i-"}, io_{"io-"}, j_{"j-"}, jo_{"jo-"}, slice_{"slice-"};
  PackedCut cut_;
  Halide::Func row_panel_{"row_panel"};          // [batch.., row tile, outer over, block, row, lane]
  Halide::Func column_panel_{"column_panel"};    // [batch.., column tile, outer over, block, lane, column]
  TurnedSquares turned_columns_;                 // the same, loaded along the lanes
  Halide::Func matrix_sums_{"matrix_sums"};      // the same as sums, in tile registers
  Halide::Func sums_{"sums"};                    // [batch.., slice, row tile, column tile, row, column]
  Halide::Func ahead_{"ahead"};                  // prefetches later elements: [batch.., column tile, outer over, block, column], or lane for the column
  Halide::Func result_{"product"};
  Halide::RDom main_, tail_, loops_;
  RowLines lines_;  ///< of a panel's part of one of b's rows
  /// main_ for a last tile of few rows or columns.
  struct Few {
    Halide::RDom domain;
    Halide::VarOrRVar row;
  };
  std::vector<Few> few_;
  std::vector<OpaqueNumber> numbers_;
  int j_loop_ = 0, i_loop_ = 0, io_loop_ = 0, jo_loop_ = 0, slice_loop_ = 0, jb_loop_ = 0, ib_loop_ = 0, part_loop_ = 0, span_loop_ = 0;
  std::vector<int> shared_loops_, own_loops_;  ///< of the batch dims that b has, and of own_batch_
  Halide::RVar task_{"task-"}, group_{"group-"};
};

template <class Index>
std::vector<Index> PackedGemm::with_batch(std::vector<Index> first, const Piece& piece) const {
  for (const std::string& dim : dims_in(body_.batch, piece)) first.emplace_back(Halide::Var(dim));
  return first;
}

}  // namespace attune
