// The operands of a packed product, copied into panels in the order in which the sums use them, or columns where they lie in panels.
#include <algorithm>
#include <numeric>

#include "codegen/halide/rewrites/bf16_dots.h"
#include "schedules/common/bf16_operand.h"
#include "schedules/common/softmax_math.h"
#include "schedules/gemm/gemm_packed.h"

using Halide::Expr;
using Halide::Func;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// So many elements of a row are read between prefetching one and reading it, then as many at the start of the next rows: prefetchers follow a row
/// only once some of it was read, and never from one page to another.
constexpr int prefetched_elements = 256;
/// Where b's rows lie along the columns, so many rows are read between prefetching a panel's part of one and reading it, then as many of the next
/// panel: that part is a few lines, on a page of its own.
constexpr int prefetched_rows = 32;
/// Where columns are turned, so many elements of each are packed before the same of the next ones: what is stored of a panel stays in the second-level
/// cache until the other columns complete its lines.
constexpr int turned_elements = 1024;
/// Panels of a few pages are not worth a task of their own.
constexpr int elements_per_packing_task = 64 * 1024;

}  // namespace

bool PackedGemm::are_columns_in_panels() const {
  return p_.b_along_columns && Halide::Internal::can_prove(columns_.along() == width_) && is_in_place_along(body_.b, body_.columns.back());
}

void PackedGemm::place_over(const Expr& outer, const Expr& index, Coordinates& at) const { over_.place_outer(outer, words_ ? index * 2 : index, at); }

/// Tile registers sum whole blocks, whose words beyond the last are zeros then.
Expr PackedGemm::packed(const Piece& piece, const Expr& outer, const Expr& index, bool is_lane, Coordinates& at) const {
  const Expr extent = over_.extent();
  if (!words_) {
    over_.place_outer(outer, clamped(index, extent, is_lane), at);
    return Halide::cast<float>(piece.at(at));
  }
  const bool is_full = fixed_value(extent % (tile_.in_matrix_tiles ? 2 * tile_.lanes : 2)) == 0;
  const auto bits = [&](int number) -> Expr {
    const Expr element = index * 2 + number;
    over_.place_outer(outer, clamped(element, extent, is_lane), at);
    const Expr of_element = bf16_operand(piece, at, body_.products)->bits;
    if (is_full || (number == 0 && !tile_.in_matrix_tiles)) return of_element;
    return select(is_lane ? Halide::likely(element < extent) : element < extent, of_element, Halide::cast<std::uint16_t>(0));
  };
  const Expr first = bits(0);
  return bf16_word(first, bits(1));
}

void PackedGemm::define_row_panel() {
  Coordinates at = batch_coordinates();
  p_.rows.place(clamped(io_ * tile_.rows + i_, p_.rows.extent(), p_.a_along_rows), at);
  row_panel_(with_batch(std::vector<Var>{k_, i_, kb_, ko_, io_}, body_.a)) = packed(body_.a, ko_, kb_ * tile_.lanes + k_, !p_.a_along_rows, at);
}

void PackedGemm::define_column_panel() {
  Coordinates at = batch_coordinates();
  columns_.place_clamped(jo_, j_, !p_.b_along_over, at);
  const Expr element = packed(body_.b, ko_, kb_ * tile_.lanes + k_, p_.b_along_over, at);
  if (p_.b_along_over) {
    const std::vector<Expr> place = with_batch(std::vector<Expr>{k_, j_, kb_, ko_, jo_}, body_.b);
    turned_columns_ = TurnedSquares(rows_at_once(), k_, j_, place, after(prefetch_ahead(), element));
    column_panel_(with_batch(std::vector<Var>{j_, k_, kb_, ko_, jo_}, body_.b)) = turned_columns_.element();
  } else {
    column_panel_(with_batch(std::vector<Var>{j_, k_, kb_, ko_, jo_}, body_.b)) = after(prefetch_rows_ahead(), element);
  }
}

Expr PackedGemm::prefetch_ahead() {
  const Expr first = kb_ * tile_.lanes / turned_elements * turned_elements, turned = Halide::min(along_over() - first, turned_elements);
  const Expr later = kb_ * tile_.lanes + Halide::min(prefetched_elements, turned), is_past = later >= first + turned;
  Coordinates at = batch_coordinates();
  place_over(ko_, select(is_past, later - turned, later), at);
  columns_.place_anywhere(jo_, j_ + select(is_past, rows_at_once(), 0), at);
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
  const Expr extent = along_over(), later = kb_ * tile_.lanes + k_ + Halide::min(prefetched_rows, extent), is_past = later >= extent;
  const Expr panel = jo_ + select(is_past, 1, 0);
  Coordinates at = batch_coordinates();
  place_over(ko_, select(is_past, later - extent, later), at);
  columns_.place_anywhere(panel, lines_.first_element(), at);
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
  columns_.place(jo_, j_, at);
  return body_.b.at(at);
}

void PackedGemm::split_into_tasks(Func& panels, const Var& tile, const Var& panel, const Var& task, int breadth) {
  const Expr elements = packed_over() * breadth;
  panels.split(tile, task, panel, Halide::max(elements_per_packing_task / elements, 1), Halide::TailStrategy::GuardWithIf).parallel(task);
}

void PackedGemm::schedule_row_panel() {
  Var task("task-"), panel("panel-");
  row_panel_.compute_at(result_, RVar(loops_[span_loop_].name())).bound(k_, 0, tile_.lanes).bound(i_, 0, tile_.rows);
  split_into_tasks(row_panel_, io_, panel, task, tile_.rows);
  if (p_.a_along_rows) {
    if (!tile_.in_matrix_tiles) row_panel_.reorder_storage(i_, k_, kb_, ko_, io_);  // the registers take rows whose words lie side by side
    row_panel_.reorder(i_, k_, kb_, ko_, panel, task).vectorize(i_, std::gcd(tile_.rows, tile_.lanes));
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
    column_panel_.split(j_, vector, lane, columns_.lanes()).reorder(lane, vector, k_, kb_, ko_, panel, task).vectorize(lane);
    if (ahead_.defined()) {
      ahead_.compute_at(column_panel_, k_);
      lines_.unroll_few(ahead_.update());
    }
    return;
  }
  // Squares of 8 x 8 (4 x 4 on narrow vectors) are transposed in registers: 0.15 ns an element where scattered stores take 0.33 (Zen 4).
  // Eight rows are read to their end: more rows at once are more streams than prefetchers follow, in few sets of the first-level cache.
  const int edge = rows_at_once();
  Var block("block-"), blocks("blocks-");
  column_panel_.split(j_, vector, lane, edge)
      .split(k_, kv, kl, edge)
      .split(kb_, blocks, block, turned_elements / tile_.lanes, Halide::TailStrategy::GuardWithIf)
      .reorder(lane, kl, kv, block, vector, blocks, ko_, panel, task)
      .vectorize(lane)
      .unroll(kl);
  if (ahead_.defined()) {
    ahead_.compute_at(column_panel_, block).unroll(j_);
    ahead_.update().unroll(j_);
  }
  turned_columns_.schedule(column_panel_, kv);
}

}  // namespace attune
