/// What is stored of attention on devices: the result by the kernel that computes it, or the states of rows, and results that are made of them.
#include <algorithm>
#include <limits>

#include "codegen/halide/numbers/strict.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/common/row_result.h"
#include "schedules/common/tiles.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/gpu/gpu_online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;

namespace attune {
namespace {

/// What all threads store of their rows, an element after the other, each of its own.
struct ElementsOfThreads {
  ElementsOfThreads(int each, const GpuSoftmaxTiles& tiles, const Expr& blocks)
      : all(0, each, 0, tiles.thread_rows, 0, tiles.columns, 0, tiles.rows, 0, blocks, "all"), row(all[3] * tiles.thread_rows + all[1]) {}

  void schedule(Func& out) const {
    out.compute_root();
    out.update().allow_race_conditions().unroll(element).unroll(of_thread).gpu_blocks(block).gpu_threads(thread, threads_y);
  }

  RDom all;
  RVar element{all[0]}, of_thread{all[1]}, thread{all[2]}, threads_y{all[3]}, block{all[4]};
  Expr row;
};

}  // namespace

Expr GpuSoftmax::total(const Expr& row, const Expr& block) const {
  if (!keeps_total(body_)) return {};
  Expr sum = totals_(0, row, block);
  for (int n = 1; n < tiles_.columns; ++n) sum = folded(body_, sum, totals_(n, row, block));
  return sum;
}

Expr GpuSoftmax::result_of(const Expr& sum, const Expr& total, const Expr& reference, const Coordinates& at) const {
  if (body_.is_of_rows) return finished(body_, number_of_row(body_, total, reference), {}, at);
  const Expr value = body_.has_softmax ? sum * Halide::select(strict_equal(total, 0.f), 0.f, 1.f / total) : sum;
  return finished(body_, value, body_.of_total ? total : Expr(), at);
}

Stored GpuSoftmax::stored_by_the_kernel() {
  ElementsOfThreads of(tiles_.thread_values, tiles_, grid_.extent());
  const Coordinates blocks = place_of(of.block);
  const Expr query = blocks.at(row_tile) * tiles_.queries() + of.row,
             column = blocks.at(value_tile) * tiles_.values() + column_of(of.element, of.thread);
  of.all.where(opaque_condition(query < rows_.extent() && column < depth_));
  Coordinates at = blocks;
  at[body_.queries] = within(query, rows_.extent());
  at[body_.value_depth] = within(column, depth_);
  std::vector<Expr> sums;
  for (int n = 0; n < tiles_.thread_values; ++n) sums.push_back(state_(of.thread, of.row, of.block)[n]);
  const Expr reference = body_.has_softmax ? Expr(state_(of.thread, of.row, of.block)[tiles_.thread_values]) : Expr();
  const Expr value = result_of(Halide::mux(of.element, sums), total(of.row, of.block), reference, at);
  Func out("online_softmax");
  out(vars_of_memory(body_.out)) = Halide::undef(value.type());
  out(innermost_first(body_.out, at)) = value;
  of.schedule(out);
  schedule_block(out, of.block);
  return {out, body_.out};
}

void GpuSoftmax::store_states() {
  const int sums = tiles_.thread_values, columns = tiles_.values() + beside_sums();
  const ElementsOfThreads of(sums + beside_sums(), tiles_, grid_.extent());
  std::vector<Expr> state;
  for (int n = 0; n < (body_.has_softmax ? sums + 1 : sums); ++n) state.push_back(state_(of.thread, of.row, of.block)[n]);
  if (keeps_total(body_)) state.push_back(total(of.row, of.block));
  // m and l are those of the row: all of its threads store the same.
  const Expr column = Halide::select(of.element < sums, column_of(of.element, of.thread), tiles_.values() - sums + of.element);
  states_(column_, row_, block_) = Halide::undef<float>();
  states_(within(column, columns), of.row, of.block) = Halide::mux(of.element, state);
  states_.bound(column_, 0, columns).bound(row_, 0, tiles_.queries()).bound(block_, 0, grid_.extent());
  of.schedule(states_);
  schedule_block(states_, of.block);
}

Func GpuSoftmax::merged(const std::string& name, const std::vector<std::string>& dims,
                        const std::function<Expr(const Exprs& state, const Coordinates&)>& finish) const {
  const bool has_column = std::ranges::find(dims, body_.value_depth) != dims.end();
  const auto merge = [=, this](const Exprs& state, const Coordinates& at) {
    const Expr row = rows_.index(at);
    Coordinates blocks = at;
    blocks[row_tile] = row / tiles_.queries();
    blocks[value_tile] = has_column ? at.at(body_.value_depth) / tiles_.values() : 0;
    const auto stored = [&](const Expr& column) { return states_(column, row % tiles_.queries(), grid_.index(blocks)); };
    if (!body_.has_softmax) {
      Exprs sums;
      if (has_column) sums.push_back(state[0] + stored(at.at(body_.value_depth) % tiles_.values()));
      if (keeps_total(body_)) sums.push_back(folded(body_, state.back(), stored(tiles_.values())));
      return sums;
    }
    const Expr of_split = stored(tiles_.values()), reference = larger(state[0], of_split);
    const Expr before = power(state[0] - reference), scale = power(of_split - reference);
    Exprs both = {reference, state[1] * before + stored(tiles_.values() + 1) * scale};
    if (has_column) both.push_back(state[2] * before + stored(at.at(body_.value_depth) % tiles_.values()) * scale);
    return both;
  };
  Exprs none, sum_of_none = has_column ? Exprs{0.f} : Exprs{};
  if (body_.has_softmax) none = joined({std::numeric_limits<float>::lowest(), 0.f}, sum_of_none);
  else none = joined(sum_of_none, keeps_total(body_) ? Exprs{total_of_nothing(body_)} : Exprs{});
  Extents extents = extents_;
  std::vector<std::string> over;
  if (tiles_.has_splits()) {
    extents[split] = splits();
    over = {split};
  }
  const auto number = [&](const Exprs& state, const Coordinates& at) { return Exprs{finish(state, at)}; };
  // There may be a single row: a block of threads has its columns.
  return reduced_on_gpu({name, gpu_grid(dims), over, none, merge, number}, extents, {tiles_.values(), 1});
}

Stored GpuSoftmax::stored_from_states() {
  store_states();
  const auto result = [this](const Exprs& state, const Coordinates& at) {
    if (!body_.has_softmax) return result_of(state[0], keeps_total(body_) ? state[1] : Expr(), {}, at);
    return result_of(state[2], state[1], state[0], at);
  };
  Stored stored{merged("online_softmax", body_.out, result), body_.out};
  const auto add = [&](const char* name, const std::optional<RowResult>& wanted, Expr (*of_row)(const Expr& greatest, const Expr& total)) {
    if (!wanted) return;
    const auto number = [&](const Exprs& state, const Coordinates& at) { return finished(*wanted, of_row(state[0] * ln_2, state.back()), at); };
    stored.beside.push_back({merged(name, wanted->out, number), wanted->out});
  };
  add("log_sum_exp", body_.log_sum_exp, log_sum_exp_of);
  add("row_maximum", body_.row_maximum, row_maximum_of);
  add("row_total", body_.row_total, [](const Expr&, const Expr& total) { return total; });
  return stored;
}

}  // namespace attune
