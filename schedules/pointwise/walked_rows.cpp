#include "schedules/pointwise/walked_rows.h"

#include <string>
#include <vector>

#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

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
    define_values();
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

  /// Those that stand before each element.
  void define_values() {
    values_(lane_, position_, tile_) = Halide::Tuple(walk_.initial);
    const RDom steps(1, Halide::max(length_ - 1, 0), "steps");
    const RowWalk::Values before = values_of(values_, {lane_, steps - 1, tile_});
    values_(lane_, steps, tile_) = Halide::Tuple(walk_.step(before, element_(lane_, steps - 1, tile_)));
    values_.update().reorder(lane_, RVar(steps.x.name())).vectorize(lane_);
  }

  void define_result() {
    loops_ = RDom({{0, lanes_}, {0, length_}, {0, tiles_per_task_}, {0, tiles_of(rows_.tiles(), tiles_per_task_)}}, "loops");
    const Expr lane = loops_[0], position = loops_[1], tile = loops_[3] * tiles_per_task_ + loops_[2], row = rows_.first(tile) + lane;
    loops_.where(tile < rows_.tiles());
    loops_.where(Halide::likely(row < rows_.extent()));
    Coordinates at;
    at[walk_.along] = position;
    rows_.place(tile, within(row, rows_.extent()), at);
    const std::vector<Expr> place = innermost_first(body_.out, at);
    Expr result = walk_.result(values_of(values_, {lane, position, tile}), element_(lane, position, tile));
    if (walk_.finish) result = walk_.finish(result, at);
    result_(std::vector<Var>(body_.out.rbegin(), body_.out.rend())) = Halide::undef(result.type());
    result_(place) = result;
  }

  void schedule() {
    const RVar lane(loops_[0].name()), position(loops_[1].name()), tile(loops_[2].name()), task(loops_[3].name());
    result_.compute_root();
    result_.update().allow_race_conditions().reorder(lane, position, tile, task).vectorize(lane).parallel(task);
    element_.compute_at(result_, tile).hoist_storage(result_, task).bound(lane_, 0, lanes_).vectorize(lane_);
    values_.compute_at(result_, tile).hoist_storage(result_, task).bound(lane_, 0, lanes_).vectorize(lane_);
  }

  const Pointwise& body_;
  const RowWalk& walk_;
  const int lanes_;
  const Expr length_;
  const Tiled rows_;
  const Expr tiles_per_task_;
  const Var lane_{"lane-"}, position_{"position-"}, tile_{"tile-"};
  Func element_{"element"}, values_{"running"}, result_{"walked"};
  RDom loops_;
};

}  // namespace

Stored walked_rows(const Pointwise& body, const Extents& extents, int lanes, int task_elements) {
  return WalkedRows(body, extents, lanes, task_elements).build();
}

}  // namespace attune
