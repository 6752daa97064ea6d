#include "schedules/pointwise/walked_rows.h"

#include <string>
#include <utility>
#include <vector>

#include "schedules/common/tiles.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// Elements of a row for which the values are loaded and stored once.
constexpr int elements_at_once = 4;

/// A tile is a vector of neighbouring rows.
class WalkedRows {
 public:
  WalkedRows(const Pointwise& body, const Extents& extents, int lanes, int task_elements)
      : body_(body), walk_(*body.walk), lanes_(lanes), length_(extents.at(walk_.along)), rows_(rows_of(body), extents, lanes),
        tiles_per_task_(pieces_of(task_elements, {length_, lanes})) {}

  Stored build() {
    Coordinates at;
    at[walk_.along] = within(position_, length_);
    rows_.place(tile_, clamped(rows_.first(tile_) + lane_, rows_.extent(), true), at);
    element_(lane_, position_, tile_) = body_.x.at(at);
    if (walk_.is_running) define_running_values();
    else define_values();
    define_result();
    schedule();
    return {result_, body_.out};
  }

 private:
  static std::vector<std::string> rows_of(const Pointwise& body) {
    std::vector<std::string> dims = body.out;
    std::erase(dims, body.walk->along);
    return dims;
  }

  static RowWalk::Values values_at(const Func& values, const std::vector<Expr>& place) {
    RowWalk::Values at;
    for (int n = 0; n < values.outputs(); ++n) at.push_back(values.outputs() == 1 ? Expr(values(place)) : Expr(values(place)[n]));
    return at;
  }

  /// Those that stand before each element.
  void define_running_values() {
    Func values("running");
    values(lane_, position_, tile_) = Halide::Tuple(walk_.initial);
    const RDom steps(1, Halide::max(length_ - 1, 0), "steps");
    const RowWalk::Values before = values_at(values, {lane_, steps - 1, tile_});
    values(lane_, steps, tile_) = Halide::Tuple(walk_.step(before, element_(lane_, steps - 1, tile_), steps - 1, 0));
    values.update().reorder(lane_, RVar(steps.x.name())).vectorize(lane_);
    values_ = {values};
  }

  /// Of each row, a Func for each pass: its loop does what this pass does alone.
  void define_values() {
    for (int pass = 0; pass < walk_.passes; ++pass) {
      Func values("values");
      values(lane_, tile_) = Halide::Tuple(pass == 0 ? walk_.initial : walk_.end_pass(values_at(values_.back(), {lane_, tile_}), pass - 1));
      const RDom steps(0, tiles_of(length_, elements_at_once), "steps");
      values(lane_, tile_) = Halide::Tuple(after_steps(values_at(values, {lane_, tile_}), steps * elements_at_once, pass));
      values.update().reorder(lane_, RVar(steps.x.name())).vectorize(lane_);
      values_.push_back(values);
    }
  }

  /// The values after the elements of a step, of which the last may have fewer.
  RowWalk::Values after_steps(RowWalk::Values values, const Expr& first, int pass) const {
    std::vector<std::pair<std::string, Expr>> named;
    for (int n = 0; n < elements_at_once; ++n) {
      const Expr position = first + n, is_there = Halide::likely(position < length_);
      const RowWalk::Values next = walk_.step(values, element_(lane_, clamped(position, length_, true), tile_), position, pass);
      // By names: each value is used several times, and expressions would grow with the powers of that.
      for (std::size_t v = 0; v < values.size(); ++v)
        named.emplace_back(Halide::Internal::unique_name("walked"), n == 0 ? next[v] : Halide::select(is_there, next[v], values[v]));
      const std::size_t first_name = named.size() - values.size();
      for (std::size_t v = 0; v < values.size(); ++v)
        values[v] = Halide::Internal::Variable::make(next[v].type(), named[first_name + v].first);
    }
    for (Expr& value : values)
      for (auto name = named.rbegin(); name != named.rend(); ++name) value = Halide::Internal::Let::make(name->first, name->second, value);
    return values;
  }

  void define_result() {
    loops_ = RDom({{0, lanes_}, {0, length_}, {0, tiles_per_task_}, {0, tiles_of(rows_.tiles(), tiles_per_task_)}}, "loops");
    const Expr lane = loops_[0], position = loops_[1], tile = loops_[3] * tiles_per_task_ + loops_[2], row = rows_.first(tile) + lane;
    loops_.where(tile < rows_.tiles());
    loops_.where(Halide::likely(row < rows_.extent()));
    Coordinates at;
    at[walk_.along] = position;
    rows_.place(tile, within(row, rows_.extent()), at);
    std::vector<Expr> place;
    for (auto dim = body_.out.rbegin(); dim != body_.out.rend(); ++dim) place.push_back(at.at(*dim));
    const RowWalk::Values values = walk_.is_running ? values_at(values_.back(), {lane, position, tile})
                                                    : walk_.end_pass(values_at(values_.back(), {lane, tile}), walk_.passes - 1);
    Expr result = walk_.result(values, element_(lane, position, tile), position);
    if (walk_.finish) result = walk_.finish(result, at);
    result_(std::vector<Var>(body_.out.rbegin(), body_.out.rend())) = Halide::undef(result.type());
    result_(place) = result;
  }

  void schedule() {
    const RVar lane(loops_[0].name()), position(loops_[1].name()), tile(loops_[2].name()), task(loops_[3].name());
    result_.compute_root();
    result_.update().allow_race_conditions().reorder(lane, position, tile, task).vectorize(lane).parallel(task);
    element_.compute_at(result_, tile).hoist_storage(result_, task).bound(lane_, 0, lanes_).vectorize(lane_);
    for (Func& values : values_) values.compute_at(result_, tile).bound(lane_, 0, lanes_).vectorize(lane_);
    if (walk_.is_running) values_.back().hoist_storage(result_, task);
  }

  const Pointwise& body_;
  const RowWalk& walk_;
  const int lanes_;
  const Expr length_;
  const Tiled rows_;
  const Expr tiles_per_task_;
  const Var lane_{"lane-"}, position_{"position-"}, tile_{"tile-"};
  Func element_{"element"}, result_{"walked"};
  std::vector<Func> values_;  // of each pass
  RDom loops_;
};

}  // namespace

Stored walked_rows(const Pointwise& body, const Extents& extents, int lanes, int task_elements) {
  return WalkedRows(body, extents, lanes, task_elements).build();
}

}  // namespace attune
