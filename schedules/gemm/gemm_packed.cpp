// A product of operands that are copied into panels: the panels are read in the order in which the sums use them, whatever the operands'
// layout, dims and arithmetic; columns that lie in panels already are read where they are. Rows are packed once in spans that the third-level
// cache keeps, columns in parts that the second-level one does; every task takes a block of rows through a part's panels (Goto, van de Geijn:
// Anatomy of high-performance matrix multiplication, 2008). Of panels that the second-level cache does not hold a task takes one slice along the
// contraction after the other, with the sums so far in the result.
#include <algorithm>
#include <map>

#include "codegen/halide/rewrites/bf16_dots.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/gemm/gemm_packed.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// A last tile with so many rows at most takes no longer than they need: of 512 rows in tiles of 6 it has 2.
constexpr int few_rows[] = {2, 4};
/// The same of vectors of columns: of 80 columns in tiles of four vectors of 16 it has one.
constexpr int few_vectors[] = {1, 2};

}  // namespace

PackedGemm::PackedGemm(const Product& product, const GemmTile& tile)
    : p_(product), body_(product.body), tile_(tile), width_(tile.vectors * tile.lanes),
      over_(body_.over, p_.extents, tile.lanes), columns_(body_.columns, p_.extents, {tile.vectors, tile.lanes, !p_.b_along_over}),
      words_(tile.has_bf16_dot ? factor_of_bf16(body_, p_.extents) : std::nullopt), columns_in_place_(!words_ && are_columns_in_panels()) {
  const std::vector<std::string> shared = dims_in(body_.batch, body_.b);
  std::copy_if(body_.batch.begin(), body_.batch.end(), std::back_inserter(own_batch_),
               [&](const std::string& dim) { return std::find(shared.begin(), shared.end(), dim) == shared.end(); });
}

Stored PackedGemm::result() {
  cut_ = cut_packed({.row_tiles = row_tiles(),
                     .column_tiles = columns_.tiles(),
                     .over = packed_over(),
                     .blocks = blocks(),
                     .outer = outer_places(),
                     .own_products = Halide::max(Flat(own_batch_, p_.extents).extent(), 1),
                     .products = Halide::max(Flat(body_.batch, p_.extents).extent(), 1),
                     .rows = tile_.rows,
                     .columns = width_,
                     .lanes = tile_.lanes,
                     .row_block = tile_.row_block,
                     .can_slice = adds_slices()},
                    numbers_);
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

Coordinates PackedGemm::batch_coordinates() const {
  return vars_at(body_.batch);
}

/// The result holds sums of slices as they are, until the last one finishes them.
bool PackedGemm::adds_slices() const { return !tile_.in_matrix_tiles && finished(body_, 0.f, vars_at(body_.out)).type() == Halide::Float(32); }

std::vector<Expr> PackedGemm::sum_of(const Expr& row) const {
  std::vector<Expr> at{j_, row, jo_, io_, slice_};
  for (const std::string& dim : body_.batch) at.emplace_back(Var(dim));
  return at;
}

void PackedGemm::add_product(const Expr& lane, const Expr& row, const Expr& block, const Expr& outer) {
  const std::vector<Expr> at = sum_of(row);
  sums_(at) = with_product(sums_(at), row_panel_(with_batch(std::vector<Expr>{lane, row, block, outer, io_}, body_.a)), column_element(lane, block, outer));
}

PackedGemm::SlicePlace PackedGemm::slice_place() const {
  const Expr outer = slice_ / cut_.slices;
  return {slice_ - outer * cut_.slices, outer};
}

RDom PackedGemm::slice_loops(const std::string& name, const Halide::Region& added) const {
  // A slice has one block at least; of nothing, panels are empty.
  Halide::Region ranges{{0, tile_.lanes}, {0, Halide::min(cut_.slice, along_over() / tile_.lanes)}, {0, Halide::min(cut_.outer_slice, outer_places())}};
  ranges.insert(ranges.end(), added.begin(), added.end());
  RDom loops(ranges, name);
  loops.where(opaque_condition(block_of(loops[1]) < along_over() / tile_.lanes));
  loops.where(opaque_condition(outer_of(loops[2]) < outer_places()));
  return loops;
}

void PackedGemm::add_product(const RDom& loops, const Expr& row) {
  add_product(loops[0], row, within(block_of(loops[1]), blocks()), within(outer_of(loops[2]), over_.outer().extent()));
}

Expr PackedGemm::with_product(const Expr& sum, const Expr& row, const Expr& column) const {
  return words_ ? bf16_dot(sum, row, column) : sum + row * column;
}

void PackedGemm::define_sums() {
  if (tile_.in_matrix_tiles) return define_matrix_sums();
  sums_(sum_of(i_)) = 0.f;
  const Expr vectors = columns_.vectors_from(jo_);
  int more_vectors = 0, more_rows = 0;
  for (const int few : few_vectors)
    if (few < tile_.vectors) {
      RDom domain = slice_loops("few_vectors_" + std::to_string(few));
      domain.where(vectors > more_vectors && vectors <= few);
      domain.where(j_ < few * tile_.lanes);
      add_product(domain, i_);
      few_.push_back({domain, i_});
      more_vectors = few;
    }
  for (const int few : few_rows)
    if (few < tile_.rows) {
      RDom domain = slice_loops("few_rows_" + std::to_string(few), {{0, few}});
      domain.where(vectors > more_vectors && has_rows(more_rows, few));
      add_product(domain, domain[3]);
      few_.push_back({domain, RVar(domain[3].name())});
      more_rows = few;
    }
  main_ = slice_loops("main");
  if (more_vectors > 0) main_.where(vectors > more_vectors);
  if (more_rows > 0) main_.where(has_rows(more_rows, tile_.rows));
  add_product(main_, i_);
  // The last block, if it is not full.
  tail_ = RDom({{0, along_over() % tile_.lanes}, {0, Halide::min(cut_.outer_slice, outer_places())}}, "tail");
  tail_.where(opaque_condition(slice_place().along == cut_.slices - 1));
  tail_.where(opaque_condition(outer_of(tail_[1]) < outer_places()));
  add_product(tail_[0], i_, within((along_over() - 1) / tile_.lanes, blocks()), within(outer_of(tail_[1]), over_.outer().extent()));
}

Expr PackedGemm::has_rows(int more_than, int rows) const {
  const Expr left = p_.rows.extent() - io_ * tile_.rows;
  return rows < tile_.rows ? left > more_than && left <= rows : left > more_than;
}

Coordinates PackedGemm::define_loops() {
  const PackedCut& c = cut_;
  Loops loops;
  j_loop_ = loops.add(width_);
  i_loop_ = loops.add(tile_.rows);
  io_loop_ = loops.add(c.height);
  jo_loop_ = loops.add(c.breadth);
  slice_loop_ = loops.add(c.slices * c.outer_slices);
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
  return at;
}

void PackedGemm::define_result() {
  const PackedCut& c = cut_;
  Coordinates at = define_loops();
  const Expr tile_in_span = loops_[ib_loop_] * c.height + loops_[io_loop_], tile_in_part = loops_[jb_loop_] * c.breadth + loops_[jo_loop_];
  const Expr row_tile = loops_[span_loop_] * c.span + tile_in_span, row = row_tile * tile_.rows + loops_[i_loop_];
  const Expr column_tile = loops_[part_loop_] * c.part + tile_in_part;
  loops_.where(tile_in_span < c.span);
  loops_.where(row_tile < row_tiles());
  loops_.where(tile_in_part < c.part);
  loops_.where(column_tile < columns_.tiles());
  loops_.where(row < p_.rows.extent());
  loops_.where(columns_.has(column_tile, loops_[j_loop_]));
  p_.rows.place(row, at);
  columns_.place(column_tile, loops_[j_loop_], at);
  const Expr slice = loops_[slice_loop_];
  std::vector<Expr> place{loops_[j_loop_], loops_[i_loop_], within(column_tile, columns_.tiles()), within(row_tile, row_tiles()), slice};
  for (const std::string& dim : body_.batch) place.push_back(at.at(dim));
  const std::vector<Expr> out = innermost_first(body_.out, at);
  const Expr sum = words_ ? sums_(place) * *words_ : sums_(place);
  if (adds_slices()) {
    result_(result_vars(body_.out)) = Halide::undef(Halide::Float(32));
    const Expr so_far = select(slice == 0, sum, result_(out) + sum);
    result_(out) = select(slice == c.slices * c.outer_slices - 1, finished(body_, so_far, at), so_far);
  } else {
    const Expr element = finished(body_, sum, at);
    result_(result_vars(body_.out)) = Halide::undef(element.type());
    result_(out) = element;
  }
}

void PackedGemm::schedule_result() {
  const auto loop = [&](int number) { return RVar(loops_[number].name()); };
  RVar vector("vector-"), lane("lane-");
  Halide::Stage stage = result_.update();
  result_.compute_root();
  stage.allow_race_conditions().split(loop(j_loop_), vector, lane, columns_.lanes());
  RVar last = loop(jb_loop_);
  const auto fuse = [&](RVar outer) {
    RVar both;
    stage.fuse(last, outer, both);
    last = both;
  };
  fuse(loop(ib_loop_));
  for (int number : own_loops_) fuse(loop(number));
  task_ = last;
  std::vector<Halide::VarOrRVar> order{lane, vector, loop(i_loop_), loop(io_loop_), loop(jo_loop_), loop(slice_loop_), task_, loop(part_loop_), loop(span_loop_)};
  if (!shared_loops_.empty()) {
    last = loop(shared_loops_.back());
    for (std::size_t n = shared_loops_.size() - 1; n-- > 0;) fuse(loop(shared_loops_[n]));
    group_ = last;
    order.emplace_back(group_);
  }
  // Partitioned, these loops would hold the products once more, where no less is done.
  stage.reorder(order).vectorize(lane).unroll(vector).parallel(task_).never_partition(loop(io_loop_), loop(jo_loop_), loop(slice_loop_));
  if (!shared_loops_.empty()) stage.parallel(group_);
}

void PackedGemm::schedule_sums() {
  if (tile_.in_matrix_tiles) return schedule_matrix_sums();
  Var vector("vector-"), lane("lane-");
  const auto tile = [&](Halide::Stage stage, const Halide::VarOrRVar& row) {
    stage.split(j_, vector, lane, tile_.lanes).vectorize(lane).unroll(vector).unroll(row);
    return stage;
  };
  sums_.compute_at(result_, RVar(loops_[io_loop_].name()))
      .bound_extent(j_, width_)
      .bound_extent(i_, tile_.rows)
      .bound_extent(jo_, 1)
      .bound_extent(io_, 1)
      .bound_extent(slice_, 1);
  tile(sums_, i_).reorder(lane, vector, i_);
  int update = 0;
  const auto products = [&](const RDom& domain, const Halide::VarOrRVar& row) {
    const RVar k(domain[0].name()), kb(domain[1].name()), ko(domain[2].name());
    tile(sums_.update(update++), row).reorder(lane, vector, row, k, kb, ko).unroll(k, 4);
  };
  for (const Few& few : few_) products(few.domain, few.row);
  products(main_, i_);
  tile(sums_.update(update), i_).reorder(lane, vector, i_, RVar(tail_[0].name()), RVar(tail_[1].name()));
}

Stored packed_gemm(const Product& product, const GemmTile& tile) { return PackedGemm(product, tile).result(); }

}  // namespace attune
