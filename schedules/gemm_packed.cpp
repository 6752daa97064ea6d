// A product of operands that are copied into panels: the panels are read in the order in which the sums use them, whatever the operands'
// layout, dims and arithmetic. A task packs a block of rows, then goes through the columns' panels; its rows stay in the second-level cache.
#include <algorithm>
#include <numeric>

#include "schedules/gemm_product.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// What the rows of one task may occupy: half of a second-level cache of 1 MB.
constexpr int row_block_bytes = 512 * 1024;
/// As many tasks give every thread some and keep the last ones short; columns are cut once rows and batch are too few for it.
constexpr int wanted_tasks = 16;
/// A task repacks its rows once per block of columns, which costs 1/16 of an instruction per vector of this many.
constexpr int column_block = 16;
/// What the panels of columns may occupy before they are packed in parts: less than what malloc keeps for the next call (32 MB, then every
/// call would pay for fresh pages), enough for parts of 512 columns at 4096 contracted elements.
constexpr int column_panel_bytes = 8 * 1024 * 1024;
/// Panels of a few pages are not worth a task of their own.
constexpr int elements_per_packing_task = 64 * 1024;

class PackedGemm {
 public:
  PackedGemm(const Product& product, const GemmTile& tile)
      : p_(product), body_(product.body), tile_(tile), width_(tile.vectors * tile.lanes),
        over_(body_.over, p_.extents, tile.lanes), columns_(body_.columns, p_.extents, width_) {}

  Func result() {
    define_panels();
    define_sums();
    define_result();
    schedule_result();
    schedule_sums();
    schedule_row_panel();
    schedule_column_panel();
    return result_;
  }

 private:
  void define_panels();
  void define_sums();
  void add_product(const Expr& lane, const Expr& block, const Expr& outer);
  void define_result();
  void schedule_result();
  void schedule_sums();
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
  const Tiled over_, columns_;

  // k counts a vector's lanes along the contraction, kb its blocks, ko what the other contracted dims are at; i and j count in a tile, io and jo tiles.
  Var k_{"k"}, kb_{"kb"}, ko_{"ko"}, i_{"i"}, io_{"io"}, j_{"j"}, jo_{"jo"};
  Func row_panel_{"row_panel"};          // [batch.., row tile, outer over, block, row, lane]
  Func column_panel_{"column_panel"};    // [batch.., column tile, outer over, block, lane, column]
  Func column_source_{"column_source"};  // the same with column and lane exchanged: a transposition in registers
  Func sums_{"sums"};                    // [batch.., row tile, column tile, row, column]
  Func result_{"product"};
  RDom main_, tail_, loops_;
  int j_loop_ = 0, i_loop_ = 0, io_loop_ = 0, jo_loop_ = 0, jb_loop_ = 0, ib_loop_ = 0, part_loop_ = 0;
  std::vector<int> shared_loops_, own_loops_;  ///< of the batch dims that b has, and of those that it lacks
  RVar task_{"task"}, group_{"group"};
};

template <class Index>
std::vector<Index> PackedGemm::with_batch(std::vector<Index> first, const Piece& piece) const {
  for (const std::string& dim : dims_in(body_.batch, piece)) first.emplace_back(Var(dim));
  return first;
}

Coordinates PackedGemm::batch_coordinates() const {
  Coordinates at;
  for (const std::string& dim : body_.batch) at[dim] = Var(dim);
  return at;
}

void PackedGemm::define_panels() {
  Coordinates at = batch_coordinates();
  over_.place_outer(ko_, clamped(kb_ * tile_.lanes + k_, over_.extent(), !p_.a_along_rows), at);
  p_.rows.place(clamped(io_ * tile_.rows + i_, p_.rows.extent(), p_.a_along_rows), at);
  row_panel_(with_batch(std::vector<Var>{k_, i_, kb_, ko_, io_}, body_.a)) = Halide::cast<float>(body_.a.at(at));

  at = batch_coordinates();
  over_.place_outer(ko_, clamped(kb_ * tile_.lanes + k_, over_.extent(), p_.b_along_over), at);
  columns_.place(jo_, clamped(columns_.first(jo_) + j_, columns_.extent(), !p_.b_along_over), at);
  const Expr element = Halide::cast<float>(body_.b.at(at));
  if (p_.b_along_over) {
    column_source_(with_batch(std::vector<Var>{k_, j_, kb_, ko_, jo_}, body_.b)) = element;
    column_panel_(with_batch(std::vector<Var>{j_, k_, kb_, ko_, jo_}, body_.b)) = column_source_(with_batch(std::vector<Expr>{k_, j_, kb_, ko_, jo_}, body_.b));
  } else {
    column_panel_(with_batch(std::vector<Var>{j_, k_, kb_, ko_, jo_}, body_.b)) = element;
  }
}

void PackedGemm::add_product(const Expr& lane, const Expr& block, const Expr& outer) {
  std::vector<Var> at{j_, i_, jo_, io_};
  for (const std::string& dim : body_.batch) at.emplace_back(dim);
  sums_(at) += row_panel_(with_batch(std::vector<Expr>{lane, i_, block, outer, io_}, body_.a)) *
               column_panel_(with_batch(std::vector<Expr>{j_, lane, block, outer, jo_}, body_.b));
}

void PackedGemm::define_sums() {
  std::vector<Var> at{j_, i_, jo_, io_};
  for (const std::string& dim : body_.batch) at.emplace_back(dim);
  sums_(at) = 0.f;
  // No blocks at all where nothing is contracted: the panels are then empty too.
  const Expr outer = over_.outer().extent() * Halide::min(over_.extent(), 1);
  main_ = RDom({{0, tile_.lanes}, {0, over_.extent() / tile_.lanes}, {0, outer}}, "main");
  add_product(main_[0], main_[1], main_[2]);
  // The last block, if it is not full.
  tail_ = RDom({{0, over_.extent() % tile_.lanes}, {0, outer}}, "tail");
  add_product(tail_[0], within((over_.extent() - 1) / tile_.lanes, over_.tiles_along()), tail_[1]);
}

void PackedGemm::define_result() {
  const Expr row_tiles = tiles_of(p_.rows.extent(), tile_.rows), column_tiles = columns_.tiles();
  const Expr panel_bytes = Halide::max(over_.tiles(), 1) * (tile_.lanes * tile_.rows * 4);
  const Expr row_blocks = tiles_of(row_tiles, Halide::clamp(row_block_bytes / panel_bytes, 1, tile_.row_block));
  const Expr height = tiles_of(row_tiles, Halide::max(row_blocks, 1));
  const Expr tasks = Halide::max(row_blocks * Flat(body_.batch, p_.extents).extent(), 1);
  const Expr column_bytes = Halide::max(over_.tiles(), 1) * (tile_.lanes * width_ * 4);
  const Expr parts = tiles_of(column_tiles, Halide::max(column_panel_bytes / column_bytes, 1)), part = tiles_of(column_tiles, Halide::max(parts, 1));
  const Expr column_blocks = Halide::clamp(wanted_tasks / tasks, 1, Halide::max(part / column_block, 1));
  const Expr breadth = tiles_of(part, column_blocks);

  Loops loops;
  j_loop_ = loops.add(width_);
  i_loop_ = loops.add(tile_.rows);
  io_loop_ = loops.add(height);
  jo_loop_ = loops.add(breadth);
  jb_loop_ = loops.add(column_blocks);
  ib_loop_ = loops.add(row_blocks);
  part_loop_ = loops.add(parts);
  const std::vector<std::string> shared = dims_in(body_.batch, body_.b);
  Coordinates at;
  std::map<std::string, int> batch;
  for (const std::string& dim : body_.batch) {
    batch[dim] = loops.add(p_.extents.at(dim));
    (std::find(shared.begin(), shared.end(), dim) == shared.end() ? own_loops_ : shared_loops_).push_back(batch[dim]);
  }
  loops_ = loops.domain("loops");
  for (const auto& [dim, loop] : batch) at[dim] = within(loops_[loop], p_.extents.at(dim));

  const Expr row_tile = loops_[ib_loop_] * height + loops_[io_loop_], row = row_tile * tile_.rows + loops_[i_loop_];
  const Expr tile_in_part = loops_[jb_loop_] * breadth + loops_[jo_loop_];
  const Expr column_tile = loops_[part_loop_] * part + tile_in_part, column = columns_.first(column_tile) + loops_[j_loop_];
  loops_.where(row_tile < row_tiles);
  loops_.where(tile_in_part < part);
  loops_.where(column_tile < column_tiles);
  loops_.where(row < p_.rows.extent());
  loops_.where(Halide::likely(column < columns_.extent()));
  p_.rows.place(row, at);
  columns_.place(column_tile, within(column, columns_.extent()), at);
  std::vector<Expr> sum{loops_[j_loop_], loops_[i_loop_], column_tile, row_tile};
  for (const std::string& dim : body_.batch) sum.push_back(at.at(dim));
  const Expr element = finished(body_, sums_(sum), at);
  result_(result_vars(body_.out)) = Halide::undef(element.type());
  result_(arguments(body_.out, at)) = element;
}

void PackedGemm::schedule_result() {
  const auto loop = [&](int number) { return RVar(loops_[number].name()); };
  RVar vector("vector"), lane("lane");
  Halide::Stage stage = result_.update();
  result_.compute_root();
  stage.allow_race_conditions().split(loop(j_loop_), vector, lane, tile_.lanes);
  RVar last = loop(jb_loop_);
  const auto fuse = [&](RVar outer) {
    RVar both;
    stage.fuse(last, outer, both);
    last = both;
  };
  fuse(loop(ib_loop_));
  for (int number : own_loops_) fuse(loop(number));
  task_ = last;
  std::vector<Halide::VarOrRVar> order{lane, vector, loop(i_loop_), loop(io_loop_), loop(jo_loop_), task_, loop(part_loop_)};
  if (!shared_loops_.empty()) {
    last = loop(shared_loops_.back());
    for (std::size_t n = shared_loops_.size() - 1; n-- > 0;) fuse(loop(shared_loops_[n]));
    group_ = last;
    order.emplace_back(group_);
  }
  stage.reorder(order).vectorize(lane).unroll(vector).parallel(task_);
  if (!shared_loops_.empty()) stage.parallel(group_);
}

void PackedGemm::schedule_sums() {
  Var vector("vector"), lane("lane");
  const auto tile = [&](Halide::Stage stage) {
    stage.split(j_, vector, lane, tile_.lanes).vectorize(lane).unroll(vector).unroll(i_);
    return stage;
  };
  sums_.compute_at(result_, RVar(loops_[io_loop_].name())).bound_extent(j_, width_).bound_extent(i_, tile_.rows);
  tile(sums_).reorder(lane, vector, i_);
  const RVar k(main_[0].name()), kb(main_[1].name()), ko(main_[2].name());
  tile(sums_.update(0)).reorder(lane, vector, i_, k, kb, ko).unroll(k, 4);
  tile(sums_.update(1)).reorder(lane, vector, i_, RVar(tail_[0].name()), RVar(tail_[1].name()));
}

void PackedGemm::schedule_row_panel() {
  row_panel_.compute_at(result_, task_).bound(k_, 0, tile_.lanes).bound(i_, 0, tile_.rows);
  if (p_.a_along_rows) {
    row_panel_.reorder_storage(i_, k_, kb_, ko_, io_).reorder(i_, k_, kb_, ko_, io_).vectorize(i_, std::gcd(tile_.rows, tile_.lanes));
  } else {
    row_panel_.reorder(k_, kb_, ko_, i_, io_).vectorize(k_);
  }
}

void PackedGemm::schedule_column_panel() {
  column_panel_.compute_at(result_, RVar(loops_[part_loop_].name()));
  Var vector("vector"), lane("lane"), kv("kv"), kl("kl"), task("task"), panel("panel");
  column_panel_.bound(k_, 0, tile_.lanes).bound(j_, 0, width_);
  const Expr elements = Halide::max(over_.tiles(), 1) * (tile_.lanes * width_);
  column_panel_.split(jo_, task, panel, Halide::max(elements_per_packing_task / elements, 1), Halide::TailStrategy::GuardWithIf).parallel(task);
  if (!p_.b_along_over) {
    column_panel_.split(j_, vector, lane, tile_.lanes).reorder(lane, vector, k_, kb_, ko_, panel, task).vectorize(lane);
    return;
  }
  // Squares of 8 x 8 (4 x 4 on narrow vectors) are transposed in registers: 0.15 ns an element where scattered stores take 0.33 (Zen 4).
  // Eight rows are read to their end: more rows at once are more streams than prefetchers follow, in few sets of the first-level cache.
  const int edge = std::min(tile_.lanes, 8);
  column_panel_.split(j_, vector, lane, edge).split(k_, kv, kl, edge).reorder(lane, kl, kv, kb_, ko_, vector, panel, task).vectorize(lane).unroll(kl);
  column_source_.compute_at(column_panel_, kv).reorder_storage(j_, k_).vectorize(k_).unroll(j_);
}

}  // namespace

Func packed_gemm(const Product& product, const GemmTile& tile) { return PackedGemm(product, tile).result(); }

}  // namespace attune
