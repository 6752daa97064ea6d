// A product of operands that are copied into panels: the panels are read in the order in which the sums use them, whatever the operands'
// layout, dims and arithmetic; columns that lie in panels already are read where they are. Rows are packed once in spans that the third-level
// cache keeps, columns in parts that the second-level one does; every task takes a block of rows through a part's panels (Goto, van de Geijn:
// Anatomy of high-performance matrix multiplication, 2008).
#include <algorithm>
#include <numeric>

#include "schedules/common/prefetch.h"
#include "schedules/gemm/gemm_cut.h"
#include "schedules/gemm/gemm_product.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// So many elements of a row are read between prefetching one and reading it, then as many at the start of the next rows: prefetchers follow a row only
/// once some of it was read, and never from one page to another.
constexpr int prefetched_elements = 256;
/// Where b's rows lie along the columns, so many rows are read between prefetching a panel's part of one and reading it, then as many of the next panel:
/// that part is a few lines, on a page of its own.
constexpr int prefetched_rows = 32;
/// A last tile with so many rows at most takes no longer than they need: of 512 rows in tiles of 6 it has 2.
constexpr int few_rows[] = {2, 4};
/// Panels of a few pages are not worth a task of their own.
constexpr int elements_per_packing_task = 64 * 1024;

class PackedGemm {
 public:
  PackedGemm(const Product& product, const GemmTile& tile)
      : p_(product), body_(product.body), tile_(tile), width_(tile.vectors * tile.lanes),
        over_(body_.over, p_.extents, tile.lanes), columns_(body_.columns, p_.extents, width_), columns_in_place_(are_columns_in_panels()) {
    const std::vector<std::string> shared = dims_in(body_.batch, body_.b);
    std::copy_if(body_.batch.begin(), body_.batch.end(), std::back_inserter(own_batch_),
                 [&](const std::string& dim) { return std::find(shared.begin(), shared.end(), dim) == shared.end(); });
  }

  Stored result() {
    define_row_panel();
    if (!columns_in_place_) define_column_panel();
    define_sums();
    define_result();
    schedule_result();
    schedule_sums();
    schedule_row_panel();
    if (!columns_in_place_) schedule_column_panel();
    Stored stored{.func = result_, .dims = body_.out, .numbers = std::move(numbers_)};
    if (tile_.prefetch != PrefetchInto::nowhere) stored.sums = sums_;
    return stored;
  }

 private:
  /// b is in memory, and its rows along the columns are as long as a panel.
  bool are_columns_in_panels() const;
  void define_row_panel();
  void define_column_panel();
  /// What prefetches that of b's rows which is read next. Undefined if b is not in memory that others wrote.
  Expr prefetch_ahead();
  /// The same where b's rows lie along the columns.
  Expr prefetch_rows_ahead();
  /// Of b, for column j of tile jo.
  Expr column_element(const Expr& lane, const Expr& block, const Expr& outer);
  void define_sums();
  /// Tiles with more than `more_than` rows, and `rows` at most.
  Expr has_rows(int more_than, int rows) const;
  void add_product(const Expr& lane, const Expr& row, const Expr& block, const Expr& outer);
  void define_result();
  void schedule_result();
  void schedule_sums();
  /// Of b that are read to their end together while they are transposed.
  int rows_at_once() const { return std::min(tile_.lanes, 8); }
  /// Tasks of about as many elements each pack the panels, `breadth` wide.
  void split_into_tasks(Func& panels, const Var& tile, const Var& panel, const Var& task, int breadth);
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
  const bool columns_in_place_;
  std::vector<std::string> own_batch_;  ///< the batch dims that b lacks: all their products read the same columns

  // k counts a vector's lanes along the contraction, kb its blocks, ko what the other contracted dims are at; i and j count in a tile, io and jo tiles.
  Var k_{"k-"}, kb_{"kb-"}, ko_{"ko-"}, i_{"i-"}, io_{"io-"}, j_{"j-"}, jo_{"jo-"};
  Func row_panel_{"row_panel"};          // [batch.., row tile, outer over, block, row, lane]
  Func column_panel_{"column_panel"};    // [batch.., column tile, outer over, block, lane, column]
  Func column_source_{"column_source"};  // the same with column and lane exchanged: a transposition in registers
  Func sums_{"sums"};                    // [batch.., row tile, column tile, row, column]
  Func ahead_{"ahead"};                  // prefetches later elements: [batch.., column tile, outer over, block, column], or lane for the column
  Func result_{"product"};
  RDom main_, tail_, loops_;
  RowLines lines_;  ///< of a panel's part of one of b's rows
  std::vector<RDom> few_;  ///< main_ for a last tile of few rows
  std::vector<OpaqueNumber> numbers_;
  int j_loop_ = 0, i_loop_ = 0, io_loop_ = 0, jo_loop_ = 0, jb_loop_ = 0, ib_loop_ = 0, part_loop_ = 0, span_loop_ = 0;
  std::vector<int> shared_loops_, own_loops_;  ///< of the batch dims that b has, and of own_batch_
  RVar task_{"task-"}, group_{"group-"};
};

template <class Index>
std::vector<Index> PackedGemm::with_batch(std::vector<Index> first, const Piece& piece) const {
  for (const std::string& dim : dims_in(body_.batch, piece)) first.emplace_back(Var(dim));
  return first;
}

Coordinates PackedGemm::batch_coordinates() const {
  return vars_at(body_.batch);
}

bool PackedGemm::are_columns_in_panels() const {
  return p_.b_along_columns && Halide::Internal::can_prove(columns_.extent() == width_) && is_in_place_along(body_.b, body_.columns.back());
}

void PackedGemm::define_row_panel() {
  Coordinates at = batch_coordinates();
  over_.place_outer(ko_, clamped(kb_ * tile_.lanes + k_, over_.extent(), !p_.a_along_rows), at);
  p_.rows.place(clamped(io_ * tile_.rows + i_, p_.rows.extent(), p_.a_along_rows), at);
  row_panel_(with_batch(std::vector<Var>{k_, i_, kb_, ko_, io_}, body_.a)) = Halide::cast<float>(body_.a.at(at));
}

void PackedGemm::define_column_panel() {
  Coordinates at = batch_coordinates();
  over_.place_outer(ko_, clamped(kb_ * tile_.lanes + k_, over_.extent(), p_.b_along_over), at);
  columns_.place(jo_, clamped(columns_.first(jo_) + j_, columns_.extent(), !p_.b_along_over), at);
  const Expr element = Halide::cast<float>(body_.b.at(at));
  if (p_.b_along_over) {
    column_source_(with_batch(std::vector<Var>{k_, j_, kb_, ko_, jo_}, body_.b)) = after(prefetch_ahead(), element);
    column_panel_(with_batch(std::vector<Var>{j_, k_, kb_, ko_, jo_}, body_.b)) = column_source_(with_batch(std::vector<Expr>{k_, j_, kb_, ko_, jo_}, body_.b));
  } else {
    column_panel_(with_batch(std::vector<Var>{j_, k_, kb_, ko_, jo_}, body_.b)) = after(prefetch_rows_ahead(), element);
  }
}

Expr PackedGemm::prefetch_ahead() {
  const Expr extent = over_.extent(), later = kb_ * tile_.lanes + Halide::min(prefetched_elements, extent), is_past = later >= extent;
  Coordinates at = batch_coordinates();
  over_.place_outer(ko_, select(is_past, later - extent, later), at);
  columns_.place(jo_, columns_.first(jo_) + j_ + select(is_past, rows_at_once(), 0), at);
  const Expr line = prefetch(body_.b.load(at), tile_.prefetch);
  if (!line.defined()) return {};
  const std::vector<Var> place = with_batch(std::vector<Var>{j_, kb_, ko_, jo_}, body_.b);
  define_prefetch(ahead_, place, line);
  return ahead_(place);
}

Expr PackedGemm::prefetch_rows_ahead() {
  const auto load = body_.b.load();
  if (!p_.b_along_columns || !load) return {};
  lines_ = RowLines(width_ + 1, load->memory.type().bytes(), "line");  // a row that begins within a line ends in one more
  const Expr extent = over_.extent(), later = kb_ * tile_.lanes + k_ + Halide::min(prefetched_rows, extent), is_past = later >= extent;
  const Expr panel = jo_ + select(is_past, 1, 0);
  Coordinates at = batch_coordinates();
  over_.place_outer(ko_, select(is_past, later - extent, later), at);
  columns_.place(panel, columns_.first(panel) + lines_.first_element(), at);
  const Expr line = prefetch(body_.b.load(at), tile_.prefetch);
  if (!line.defined()) return {};
  const std::vector<Var> place = with_batch(std::vector<Var>{k_, kb_, ko_, jo_}, body_.b);
  define_prefetch(ahead_, place, line);
  return ahead_(place);
}

Expr PackedGemm::column_element(const Expr& lane, const Expr& block, const Expr& outer) {
  if (!columns_in_place_) return column_panel_(with_batch(std::vector<Expr>{j_, lane, block, outer, jo_}, body_.b));
  Coordinates at = batch_coordinates();
  over_.place_outer(outer, block * tile_.lanes + lane, at);
  columns_.place(jo_, columns_.first(jo_) + j_, at);
  return body_.b.at(at);
}

void PackedGemm::add_product(const Expr& lane, const Expr& row, const Expr& block, const Expr& outer) {
  std::vector<Expr> at{j_, row, jo_, io_};
  for (const std::string& dim : body_.batch) at.emplace_back(Var(dim));
  sums_(at) += row_panel_(with_batch(std::vector<Expr>{lane, row, block, outer, io_}, body_.a)) * column_element(lane, block, outer);
}

void PackedGemm::define_sums() {
  std::vector<Var> at{j_, i_, jo_, io_};
  for (const std::string& dim : body_.batch) at.emplace_back(dim);
  sums_(at) = 0.f;
  // No blocks at all where nothing is contracted: the panels are then empty too.
  const Expr outer = over_.outer().extent() * Halide::min(over_.extent(), 1), blocks = over_.extent() / tile_.lanes;
  int more_than = 0;
  for (const int rows : few_rows)
    if (rows < tile_.rows) {
      RDom few({{0, tile_.lanes}, {0, blocks}, {0, outer}, {0, rows}}, "few_" + std::to_string(rows));
      few.where(has_rows(more_than, rows));
      add_product(few[0], few[3], few[1], few[2]);
      few_.push_back(few);
      more_than = rows;
    }
  main_ = RDom({{0, tile_.lanes}, {0, blocks}, {0, outer}}, "main");
  if (!few_.empty()) main_.where(has_rows(more_than, tile_.rows));
  add_product(main_[0], i_, main_[1], main_[2]);
  // The last block, if it is not full.
  tail_ = RDom({{0, over_.extent() % tile_.lanes}, {0, outer}}, "tail");
  add_product(tail_[0], i_, within((over_.extent() - 1) / tile_.lanes, over_.tiles_along()), tail_[1]);
}

Expr PackedGemm::has_rows(int more_than, int rows) const {
  const Expr left = p_.rows.extent() - io_ * tile_.rows;
  return rows < tile_.rows ? left > more_than && left <= rows : left > more_than;
}

void PackedGemm::define_result() {
  const Expr row_tiles = tiles_of(p_.rows.extent(), tile_.rows), column_tiles = columns_.tiles();
  const PackedCut c = cut_packed({.row_tiles = row_tiles,
                                  .column_tiles = column_tiles,
                                  .over = Halide::max(over_.tiles(), 1) * tile_.lanes,
                                  .own_products = Halide::max(Flat(own_batch_, p_.extents).extent(), 1),
                                  .products = Halide::max(Flat(body_.batch, p_.extents).extent(), 1),
                                  .rows = tile_.rows,
                                  .columns = width_,
                                  .row_block = tile_.row_block},
                                 numbers_);
  Loops loops;
  j_loop_ = loops.add(width_);
  i_loop_ = loops.add(tile_.rows);
  io_loop_ = loops.add(c.height);
  jo_loop_ = loops.add(c.breadth);
  jb_loop_ = loops.add(c.column_blocks);
  ib_loop_ = loops.add(c.row_blocks);
  part_loop_ = loops.add(c.parts);
  span_loop_ = loops.add(c.spans);
  Coordinates at;
  std::map<std::string, int> batch;
  for (const std::string& dim : body_.batch) {
    batch[dim] = loops.add(p_.extents.at(dim));
    (std::find(own_batch_.begin(), own_batch_.end(), dim) == own_batch_.end() ? shared_loops_ : own_loops_).push_back(batch[dim]);
  }
  loops_ = loops.domain("loops");
  for (const auto& [dim, loop] : batch) at[dim] = within(loops_[loop], p_.extents.at(dim));

  const Expr tile_in_span = loops_[ib_loop_] * c.height + loops_[io_loop_], tile_in_part = loops_[jb_loop_] * c.breadth + loops_[jo_loop_];
  const Expr row_tile = loops_[span_loop_] * c.span + tile_in_span, row = row_tile * tile_.rows + loops_[i_loop_];
  const Expr column_tile = loops_[part_loop_] * c.part + tile_in_part, column = columns_.first(column_tile) + loops_[j_loop_];
  loops_.where(tile_in_span < c.span);
  loops_.where(row_tile < row_tiles);
  loops_.where(tile_in_part < c.part);
  loops_.where(column_tile < column_tiles);
  loops_.where(row < p_.rows.extent());
  loops_.where(Halide::likely(column < columns_.extent()));
  p_.rows.place(row, at);
  columns_.place(column_tile, within(column, columns_.extent()), at);
  std::vector<Expr> sum{loops_[j_loop_], loops_[i_loop_], within(column_tile, column_tiles), within(row_tile, row_tiles)};
  for (const std::string& dim : body_.batch) sum.push_back(at.at(dim));
  const Expr element = finished(body_, sums_(sum), at);
  result_(result_vars(body_.out)) = Halide::undef(element.type());
  result_(arguments(body_.out, at)) = element;
}

void PackedGemm::schedule_result() {
  const auto loop = [&](int number) { return RVar(loops_[number].name()); };
  RVar vector("vector-"), lane("lane-");
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
  std::vector<Halide::VarOrRVar> order{lane, vector, loop(i_loop_), loop(io_loop_), loop(jo_loop_), task_, loop(part_loop_), loop(span_loop_)};
  if (!shared_loops_.empty()) {
    last = loop(shared_loops_.back());
    for (std::size_t n = shared_loops_.size() - 1; n-- > 0;) fuse(loop(shared_loops_[n]));
    group_ = last;
    order.emplace_back(group_);
  }
  // Partitioned, these loops would hold the products once more, where no less is done.
  stage.reorder(order).vectorize(lane).unroll(vector).parallel(task_).never_partition(loop(io_loop_), loop(jo_loop_));
  if (!shared_loops_.empty()) stage.parallel(group_);
}

void PackedGemm::schedule_sums() {
  Var vector("vector-"), lane("lane-");
  const auto tile = [&](Halide::Stage stage, const Halide::VarOrRVar& row) {
    stage.split(j_, vector, lane, tile_.lanes).vectorize(lane).unroll(vector).unroll(row);
    return stage;
  };
  sums_.compute_at(result_, RVar(loops_[io_loop_].name())).bound_extent(j_, width_).bound_extent(i_, tile_.rows).bound_extent(jo_, 1).bound_extent(io_, 1);
  tile(sums_, i_).reorder(lane, vector, i_);
  int update = 0;
  const auto products = [&](const RDom& domain, const Halide::VarOrRVar& row) {
    const RVar k(domain[0].name()), kb(domain[1].name()), ko(domain[2].name());
    tile(sums_.update(update++), row).reorder(lane, vector, row, k, kb, ko).unroll(k, 4);
  };
  for (const RDom& few : few_) products(few, RVar(few[3].name()));
  products(main_, i_);
  tile(sums_.update(update), i_).reorder(lane, vector, i_, RVar(tail_[0].name()), RVar(tail_[1].name()));
}

void PackedGemm::split_into_tasks(Func& panels, const Var& tile, const Var& panel, const Var& task, int breadth) {
  const Expr elements = Halide::max(over_.tiles(), 1) * (tile_.lanes * breadth);
  panels.split(tile, task, panel, Halide::max(elements_per_packing_task / elements, 1), Halide::TailStrategy::GuardWithIf).parallel(task);
}

void PackedGemm::schedule_row_panel() {
  Var task("task-"), panel("panel-");
  row_panel_.compute_at(result_, RVar(loops_[span_loop_].name())).bound(k_, 0, tile_.lanes).bound(i_, 0, tile_.rows);
  split_into_tasks(row_panel_, io_, panel, task, tile_.rows);
  if (p_.a_along_rows) {
    row_panel_.reorder_storage(i_, k_, kb_, ko_, io_).reorder(i_, k_, kb_, ko_, panel, task).vectorize(i_, std::gcd(tile_.rows, tile_.lanes));
  } else {
    row_panel_.reorder(k_, kb_, ko_, i_, panel, task).vectorize(k_);
  }
}

void PackedGemm::schedule_column_panel() {
  column_panel_.compute_at(result_, RVar(loops_[part_loop_].name()));
  Var vector("vector-"), lane("lane-"), kv("kv-"), kl("kl-"), task("task-"), panel("panel-");
  column_panel_.bound(k_, 0, tile_.lanes).bound(j_, 0, width_);
  split_into_tasks(column_panel_, jo_, panel, task, width_);
  if (!p_.b_along_over) {
    column_panel_.split(j_, vector, lane, tile_.lanes).reorder(lane, vector, k_, kb_, ko_, panel, task).vectorize(lane);
    if (ahead_.defined()) {
      ahead_.compute_at(column_panel_, k_);
      lines_.unroll_few(ahead_.update());
    }
    return;
  }
  // Squares of 8 x 8 (4 x 4 on narrow vectors) are transposed in registers: 0.15 ns an element where scattered stores take 0.33 (Zen 4).
  // Eight rows are read to their end: more rows at once are more streams than prefetchers follow, in few sets of the first-level cache.
  const int edge = rows_at_once();
  column_panel_.split(j_, vector, lane, edge).split(k_, kv, kl, edge).reorder(lane, kl, kv, kb_, ko_, vector, panel, task).vectorize(lane).unroll(kl);
  if (ahead_.defined()) {
    ahead_.compute_at(column_panel_, kb_).unroll(j_);
    ahead_.update().unroll(j_);
  }
  column_source_.compute_at(column_panel_, kv).reorder_storage(j_, k_).vectorize(k_).unroll(j_);
}

}  // namespace

Stored packed_gemm(const Product& product, const GemmTile& tile) { return PackedGemm(product, tile).result(); }

}  // namespace attune
