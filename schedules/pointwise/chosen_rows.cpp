#include "schedules/pointwise/chosen_rows.h"

#include <functional>
#include <string>
#include <vector>

#include "schedules/common/row_search.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// Elements of a long row between which a list looks for any that is chosen.
constexpr int block_elements = 128;

/// A tile is a vector of neighbouring rows, each of which has a lane; or one row, whose elements have the lanes, and whose search ends where it is settled.
struct TileShape {
  int rows, lanes;
  Expr takes_all;  ///< the calls whose rows are of this shape

  bool is_one_row() const { return rows == 1; }
};

/// The rows of a kernel in tiles of one shape: an update of the result.
class ChosenTiles {
 public:
  ChosenTiles(const Pointwise& body, const Extents& extents, const TileShape& shape, int task_elements)
      : body_(body), choice_(*body.choice), shape_(shape), length_(extents.at(choice_.along)), columns_(extents.at(choice_.result_dim())),
        rows_(rows_of_choice(body), extents, shape.rows), tiles_per_task_(pieces_of(task_elements, {length_, shape.rows})),
        search_(body.x.at(vars_at(body.x.dims)).type(), choice_.count) {}

  void define(Func& result) {
    define_elements();
    define_known();
    define_last_of_equals();
    if (choice_.list) define_list();
    define_result(result);
  }

  void schedule(Func& result) {
    const RVar column(loops_[0].name()), row(loops_[1].name()), tile(loops_[2].name()), task(loops_[3].name());
    Halide::Stage stage = result.update(update_);
    stage.allow_race_conditions().parallel(task);
    if (shape_.is_one_row()) {
      RVar vectors("vectors-"), lane("lane-");
      stage.split(column, vectors, lane, shape_.lanes, Halide::TailStrategy::GuardWithIf).reorder(lane, vectors, row, tile, task).vectorize(lane);
    } else {
      stage.reorder(row, column, tile, task).vectorize(row);
    }
    const Halide::LoopLevel at_tile(result, tile), at_task(result, task);
    elements_.compute_at(at_tile).hoist_storage(at_task);
    in_vectors(elements_, position_);
    for (Func& counts : counts_) {
      counts.compute_at(at_tile);
      by_lanes(counts);
    }
    by_rows(known_.compute_at(at_tile));
    by_rows(last_.compute_at(at_tile));
    if (choice_.list) schedule_list(at_tile, at_task);
  }

 private:
  /// Behind the last one 0, which is not counted: what is tried has a bit.
  void define_elements() {
    Coordinates at;
    at[choice_.along] = clamped(position_, length_, true);
    rows_.place(tile_, clamped(rows_.first(tile_) + row_, rows_.extent(), true), at);
    const Expr element = body_.x.at(at);
    elements_(position_, row_, tile_) = Halide::select(Halide::likely(position_ < length_), element, Halide::Internal::make_zero(element.type()));
  }

  /// A Func for each pass: what is known before it, and what its lanes count.
  void define_known() {
    Exprs known = search_.initial(length_);
    for (int pass = 0; pass < search_.passes(); ++pass) {
      const Exprs place = {lane_, row_, tile_};
      Func counts("counts");
      counts(place) = Halide::Tuple(joined(known, {0}));
      const Exprs values = values_of(counts, place);
      RDom vectors(0, tiles_of(length_, shape_.lanes), "vectors");
      if (shape_.is_one_row() && pass > 0) vectors.where(!search_.is_settled(known));
      const Expr is_counted = elements_(vectors * shape_.lanes + lane_, row_, tile_) >= search_.tried(values, pass);
      counts(place) = Halide::Tuple(values[0], values[1], values[2], values[3] + Halide::cast<std::int32_t>(is_counted));
      counts_.push_back(counts);
      const auto counted = [&](int lane) { return values_of(counts, {lane, row_, tile_})[3]; };
      known = search_.learned(values_of(counts, {0, row_, tile_}), sum_of_lanes(counted), pass);
    }
    known_(row_, tile_) = Halide::Tuple(known);
  }

  Expr sum_of_lanes(const std::function<Expr(int lane)>& number) const {
    return across_lanes(shape_.lanes, number, [](const Expr& a, const Expr& b) { return a + b; });
  }

  /// (how many equals stand before a position, the last of them that is chosen)
  void define_last_of_equals() {
    const Exprs known = values_of(known_, {row_, tile_});
    const Expr is_settled = search_.is_settled(known);
    last_(row_, tile_) = Halide::Tuple(0, Halide::select(is_settled, RowSearch::last_of_all(), RowSearch::last_of_none()));
    RDom positions(0, length_, "positions");
    if (shape_.is_one_row()) positions.where(!is_settled);
    const Expr is_equal = elements_(positions, row_, tile_) == known[0], before = last_(row_, tile_)[0], last = last_(row_, tile_)[1];
    const Expr is_chosen = !is_settled && is_equal && before < search_.chosen_of_equals(known);
    last_(row_, tile_) = Halide::Tuple(before + Halide::cast<std::int32_t>(is_equal), Halide::select(is_chosen, positions, last));
  }

  Expr is_chosen(const Expr& position, const Expr& row, const Expr& tile) const {
    return RowSearch::is_chosen(values_of(known_, {row, tile}), last_(row, tile)[1], elements_(position, row, tile), position);
  }

  /// Each position that is chosen is written where as many are listed as are chosen before it: behind the list if it has no place for it.
  void define_list() {
    const int size = shape_.is_one_row() ? block_elements : 1;
    const Expr blocks = tiles_of(length_, size);
    const auto counted = [&](const Expr& position) { return Halide::cast<std::int32_t>(is_chosen(position, row_, tile_) && position < length_); };
    RDom vectors(0, size / (shape_.is_one_row() ? shape_.lanes : 1), "vectors");
    in_block_(lane_, block_, row_, tile_) = 0;
    in_block_(lane_, block_, row_, tile_) += counted(block_ * size + vectors * shape_.lanes + lane_);
    before_(block_, row_, tile_) = 0;
    const RDom steps(1, blocks, "steps");
    before_(steps, row_, tile_) = before_(steps - 1, row_, tile_) + sum_of_lanes([&](int lane) { return in_block_(lane, steps - 1, row_, tile_); });
    rank_(number_, block_, row_, tile_) = before_(block_, row_, tile_);
    const auto has_chosen = [&](const Expr& block) { return before_(block + 1, row_, tile_) > before_(block, row_, tile_); };
    if (size > 1) {
      RDom numbers(1, size - 1, "numbers");
      numbers.where(has_chosen(block_));
      rank_(numbers, block_, row_, tile_) = rank_(numbers - 1, block_, row_, tile_) + counted(block_ * size + numbers - 1);
    }

    list_(slot_, row_, tile_) = -1;
    RDom all(0, size, 0, blocks, "all");
    const Expr position = all.y * size + all.x, rank = rank_(all.x, all.y, row_, tile_);
    if (shape_.is_one_row()) all.where(has_chosen(all.y));
    const Expr is_listed = is_chosen(position, row_, tile_) && position < length_ && rank < columns_;
    list_(within(Halide::select(is_listed, rank, columns_), columns_ + 1), row_, tile_) = position;
    listing_ = {RVar(all.x.name()), RVar(all.y.name())};
    if (choice_.list->is_sorted) define_sorted();
  }

  /// A listed position goes where as many stand before it as precede it.
  void define_sorted() {
    const Expr place = list_(slot_, row_, tile_);
    listed_(slot_, row_, tile_) = elements_(within(Halide::max(place, 0), length_), row_, tile_);
    const RDom others(0, columns_, "others"), slots(0, columns_, "slots");
    const Expr precedes = RowSearch::precedes(listed_(others, row_, tile_), others, listed_(slot_, row_, tile_), slot_);
    order_(slot_, row_, tile_) = 0;
    order_(slot_, row_, tile_) += Halide::cast<std::int32_t>(list_(others, row_, tile_) >= 0 && precedes);
    sorted_(slot_, row_, tile_) = -1;
    const Expr order = order_(slots, row_, tile_), is_listed = list_(slots, row_, tile_) >= 0;
    sorted_(within(Halide::select(is_listed, order, columns_), columns_ + 1), row_, tile_) = list_(slots, row_, tile_);
  }

  void define_result(Func& result) {
    const Expr tiles = Halide::select(shape_.takes_all, rows_.tiles(), 0);
    loops_ = RDom({{0, columns_}, {0, shape_.rows}, {0, tiles_per_task_}, {0, tiles_of(tiles, tiles_per_task_)}}, "loops");
    const Expr column = loops_[0], tile = loops_[3] * tiles_per_task_ + loops_[2], row = rows_.first(tile) + loops_[1];
    loops_.where(tile < tiles);
    if (!shape_.is_one_row()) loops_.where(Halide::likely(row < rows_.extent()));
    Coordinates at;
    at[choice_.result_dim()] = column;
    rows_.place(tile, within(row, rows_.extent()), at);
    const Exprs place = innermost_first(body_.out, at);
    Expr value = is_chosen(column, loops_[1], tile);
    if (choice_.list) value = Halide::cast<std::int64_t>((choice_.list->is_sorted ? sorted_ : list_)(column, loops_[1], tile));
    if (choice_.finish) value = choice_.finish(value, at);
    if (!result.defined()) result(std::vector<Var>(body_.out.rbegin(), body_.out.rend())) = Halide::undef(value.type());
    update_ = result.num_update_definitions();
    result(place) = value;
  }

  /// The rows of a tile are lanes, or there is one.
  void by_rows(Func& f) const {
    f.bound(row_, 0, shape_.rows);
    if (shape_.is_one_row()) return;
    f.vectorize(row_);
    for (int n = 0; n < f.num_update_definitions(); ++n) f.update(n).vectorize(row_);
  }
  /// The same of sums whose lanes are a row's elements, or its only one.
  void by_lanes(Func& counts) const {
    counts.bound(lane_, 0, shape_.lanes);
    by_rows(counts);
    if (shape_.is_one_row()) counts.vectorize(lane_).update().vectorize(lane_);
  }
  /// The vectors of a Func over places of a row go along them in a tile of one row.
  void in_vectors(Func& f, const Var& along) const {
    f.bound(row_, 0, shape_.rows);
    if (!shape_.is_one_row()) {
      f.reorder_storage(row_, along, tile_).reorder(row_, along, tile_).vectorize(row_);
      return;
    }
    f.vectorize(along, shape_.lanes, Halide::TailStrategy::RoundUp);
  }

  void schedule_list(const Halide::LoopLevel& at_tile, const Halide::LoopLevel& at_task) {
    list_.compute_at(at_tile).hoist_storage(at_task);
    in_vectors(list_, slot_);
    const RVar number = listing_[0], block = listing_[1];
    if (shape_.is_one_row()) list_.update().reorder(number, block);
    else list_.update().reorder(row_, number, block).vectorize(row_);
    before_.compute_at(at_tile).hoist_storage(at_task);
    in_block_.compute_at(at_tile).hoist_storage(at_task);
    by_lanes(in_block_);
    by_rows(before_);
    rank_.compute_at(list_, block);
    by_rows(rank_);
    if (!choice_.list->is_sorted) return;
    listed_.compute_at(at_tile).hoist_storage(at_task);
    in_vectors(listed_, slot_);
    order_.compute_at(at_tile).hoist_storage(at_task);
    in_vectors(order_, slot_);
    if (shape_.is_one_row()) order_.update().vectorize(slot_, shape_.lanes, Halide::TailStrategy::RoundUp);
    else order_.update().reorder(row_, slot_).vectorize(row_);
    sorted_.compute_at(at_tile).hoist_storage(at_task);
    in_vectors(sorted_, slot_);
    if (!shape_.is_one_row()) sorted_.update().vectorize(row_);
  }

  const Pointwise& body_;
  const RowChoice& choice_;
  const TileShape shape_;
  const Expr length_, columns_;
  const Tiled rows_;
  const Expr tiles_per_task_;
  const RowSearch search_;
  const Var lane_{"lane-"}, position_{"position-"}, row_{"row-"}, tile_{"tile-"}, block_{"block-"}, number_{"number-"}, slot_{"slot-"};
  Func elements_{"elements"}, known_{"known"}, last_{"last"}, in_block_{"in_block"}, before_{"before"}, rank_{"rank"}, list_{"list"};
  Func listed_{"listed"}, order_{"order"}, sorted_{"sorted"};
  std::vector<Func> counts_;  // of each pass
  std::vector<RVar> listing_;         // the loops of the list's update
  RDom loops_;
  int update_ = 0;
};

}  // namespace

Stored chosen_rows(const Pointwise& body, const Extents& extents, int lanes, int task_elements) {
  const RowChoice& choice = *body.choice;
  const Expr length = extents.at(choice.along), is_long = length >= block_elements;
  const bool lies_in_rows = !body.x.dims.empty() && body.x.dims.back() == choice.along;
  // Elements of 64 bits have twice the passes: both shapes of them take Halide four times as long as one.
  const bool has_both = lies_in_rows && body.x.at(vars_at(body.x.dims)).type().bits() == 32;
  std::vector<TileShape> shapes;
  if (!lies_in_rows || has_both) shapes.push_back({lanes, 1, has_both ? !is_long : Expr(true)});
  if (lies_in_rows) shapes.push_back({1, lanes, has_both ? is_long : Expr(true)});
  std::vector<ChosenTiles> tiles;
  tiles.reserve(shapes.size());
  Func result("chosen");
  for (const TileShape& shape : shapes)
    if (!Halide::Internal::is_const_zero(Halide::Internal::simplify(shape.takes_all))) tiles.emplace_back(body, extents, shape, task_elements).define(result);
  result.compute_root();
  for (ChosenTiles& of_shape : tiles) of_shape.schedule(result);
  return {result, body.out};
}

}  // namespace attune
