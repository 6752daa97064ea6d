#include "schedules/row_softmax/row_softmax.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"
#include "schedules/common/row_result.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// Vectors go along the row if that is the result's innermost dim, otherwise across rows that are neighbours there. A tile is what is computed at
/// a time: one row, or a vector of rows. Along a row, lanes beyond its end hold -infinity, whose weight is 0.
class SoftmaxOfRows {
 public:
  SoftmaxOfRows(const RowSoftmax& body, const Extents& extents, int lanes, int task_elements)
      : body_(body), lanes_(lanes), is_along_(body.out.back() == body.along), length_(extents.at(body.along)),
        blocks_(is_along_ ? tiles_of(length_, lanes) : length_), rows_(without(body.out, body.along), extents, is_along_ ? 1 : lanes),
        tiles_per_task_(pieces_of(task_elements, {length_, rows_.size()})), log_sum_exp_("log_sum_exp", body.log_sum_exp) {}

  Stored build() {
    define_weights();
    define_result();
    schedule();
    Stored stored{result_, body_.out};
    log_sum_exp_.add_to(stored.beside);
    return stored;
  }

 private:
  static std::vector<std::string> without(std::vector<std::string> dims, const std::string& dim) {
    dims.erase(std::find(dims.begin(), dims.end(), dim));
    return dims;
  }

  Expr index_along(const Expr& lane, const Expr& block) const { return is_along_ ? block * lanes_ + lane : block; }
  Expr index_across(const Expr& lane, const Expr& tile) const { return rows_.first(tile) + (is_along_ ? Expr(0) : lane); }

  /// The reduction over a row's vectors ends with one value a row: over the lanes too if these are along the row.
  Expr one_per_row(const Func& lanes, Func row, const std::function<Expr(const Expr&, const Expr&)>& both);
  void define_weights();
  void define_result();
  void schedule();

  const RowSoftmax body_;
  const int lanes_;
  const bool is_along_;
  const Expr length_, blocks_;
  const Tiled rows_;
  const Expr tiles_per_task_;
  const StoredOfRows log_sum_exp_;
  Var lane_{"lane-"}, block_{"block-"}, tile_{"tile-"};
  Func x_{"x"}, lane_maximum_{"lane_maximum"}, maximum_{"maximum"}, weight_{"weight"}, lane_sum_{"lane_sum"}, sum_{"sum"}, kept_sum_{"kept_sum"},
      scale_{"scale"};
  Func result_{"softmax"};
  RDom row_, loops_;
};

Expr SoftmaxOfRows::one_per_row(const Func& lanes, Func row, const std::function<Expr(const Expr&, const Expr&)>& both) {
  if (!is_along_) return lanes(lane_, tile_);
  row(tile_) = across_lanes(lanes_, [&](int lane) { return Expr(lanes(lane, tile_)); }, both);
  return row(tile_);
}

void SoftmaxOfRows::define_weights() {
  row_ = RDom({{0, blocks_}}, "row");
  Coordinates at;
  const Expr along = index_along(lane_, block_);
  at[body_.along] = is_along_ ? clamped(along, length_, true) : within(along, length_);
  rows_.place(tile_, clamped(index_across(lane_, tile_), rows_.extent(), !is_along_), at);
  const Expr x = Halide::cast<float>(body_.x.at(at));
  x_(lane_, block_, tile_) = is_along_ ? Halide::select(Halide::likely(along < length_), x, hidden_score()) : x;

  // From the lowest number, not from -infinity: a row of -infinity then subtracts a number.
  const Expr lowest = std::numeric_limits<float>::lowest();
  lane_maximum_(lane_, tile_) = lowest;
  lane_maximum_(lane_, tile_) = Halide::max(lane_maximum_(lane_, tile_), x_(lane_, row_, tile_));
  const Expr maximum = one_per_row(lane_maximum_, maximum_, [](const Expr& a, const Expr& b) { return Halide::max(a, b); });
  weight_(lane_, block_, tile_) = softmax_exp2((x_(lane_, block_, tile_) - maximum) * log2_e);

  lane_sum_(lane_, tile_) = 0.f;
  lane_sum_(lane_, tile_) += weight_(lane_, row_, tile_);
  Expr sum = one_per_row(lane_sum_, sum_, [](const Expr& a, const Expr& b) { return a + b; });
  if (log_sum_exp_.is_wanted()) {
    Coordinates row;
    rows_.place(tile_, clamped(index_across(lane_, tile_), rows_.extent(), true), row);
    const std::vector<Var> of_row = is_along_ ? std::vector{tile_} : std::vector{lane_, tile_};
    kept_sum_(of_row) = log_sum_exp_.storing(sum, log_sum_exp_of(maximum, sum), row);
    sum = kept_sum_(std::vector<Expr>(of_row.begin(), of_row.end()));
  }
  scale_(lane_, tile_) = Halide::select(strict_equal(sum, 0.f), 0.f, 1.f / sum);
}

void SoftmaxOfRows::define_result() {
  const Expr tasks = tiles_of(rows_.tiles(), tiles_per_task_);
  loops_ = RDom({{0, lanes_}, {0, blocks_}, {0, tiles_per_task_}, {0, tasks}}, "loops");
  const Expr tile = loops_[3] * tiles_per_task_ + loops_[2];
  const Expr along = index_along(loops_[0], loops_[1]), across = index_across(loops_[0], tile);
  loops_.where(tile < rows_.tiles());
  loops_.where(Halide::likely(is_along_ ? along < length_ : across < rows_.extent()));
  Coordinates at;
  at[body_.along] = within(along, length_);
  rows_.place(tile, within(across, rows_.extent()), at);
  const std::vector<Expr> arguments = innermost_first(body_.out, at);
  Expr p = weight_(loops_[0], loops_[1], tile) * scale_(loops_[0], tile);
  if (body_.finish) p = body_.finish(p, at);
  result_(std::vector<Var>(body_.out.rbegin(), body_.out.rend())) = Halide::undef(p.type());
  result_(arguments) = p;
}

void SoftmaxOfRows::schedule() {
  const RVar lane(loops_[0].name()), block(loops_[1].name()), tile(loops_[2].name()), task(loops_[3].name());
  result_.compute_root();
  result_.update().allow_race_conditions().reorder(lane, block, tile, task).vectorize(lane).parallel(task);
  // A row's storage is allocated once a task, not once a row.
  for (Func* func : {&x_, &weight_})
    func->compute_at(result_, tile).hoist_storage(result_, task).bound(lane_, 0, lanes_).reorder(lane_, block_, tile_).vectorize(lane_);
  for (Func* func : {&lane_maximum_, &lane_sum_, &scale_}) func->compute_at(result_, tile).bound(lane_, 0, lanes_).vectorize(lane_);
  for (Func* func : {&lane_maximum_, &lane_sum_}) func->update().reorder(lane_, RVar(row_.x.name())).vectorize(lane_);
  if (kept_sum_.defined()) kept_sum_.compute_at(result_, tile);
  if (kept_sum_.defined() && !is_along_) kept_sum_.bound(lane_, 0, lanes_).vectorize(lane_);
  if (!is_along_) return;
  for (Func* func : {&maximum_, &sum_}) func->compute_at(result_, tile);
}

}  // namespace

std::vector<Parameter> row_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("row_softmax", machine, size, {{"vectors", {1, 2, 4}}, {"task_elements", {1024, 4096, 16384, 65536}}});
}

Stored row_softmax(const RowSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  const int lanes = machine.vector_bytes / 4 * static_cast<int>(value_of(values, "vectors"));
  return SoftmaxOfRows(body, extents, lanes, static_cast<int>(value_of(values, "task_elements"))).build();
}

}  // namespace attune
