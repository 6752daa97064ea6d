#include "schedules/common/state_scan.h"

#include <utility>

#include "codegen/halide/rewrites/store_beside.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace attune {
namespace {

/// Of so many columns those that a task computes.
Expr in_blocks(const Expr& columns, const ScanTile& tile) {
  return Halide::Internal::simplify(Halide::min(tiles_of(columns, tile.column_block) * tile.column_block, tile.columns));
}

}  // namespace

StateScan::StateScan(const RecurrenceBody& of, const Extents& extents, const ScanTile& cut)
    : body(of), tile(cut), tokens(extents.at(body.along)), width(extents.at(body.over)), batch(body.batch, extents), group(body.group, extents),
      columns(body.columns, extents, tile.columns), tiles(columns.tiles()), tasks(Halide::Internal::simplify(batch.extent() * tiles)),
      chunks(tiles_of(tokens, tile.tokens())),
      used_columns(tile.column_block == 0 ? Expr(tile.columns) : in_blocks(columns.extent(), tile)) {
  Coordinates place = at(n, c);
  place[body.over] = clamped(d, width, false);
  state(c, d, n) = Halide::cast<float>(body.initial.at(place));
}

Coordinates StateScan::at(const Expr& task, const Expr& column) const {
  Coordinates place;
  const Expr of_batch = Halide::max(tiles, 1), of_columns = task % of_batch;
  batch.place(task / of_batch, place);
  columns.place(of_columns, clamped(columns.first(of_columns) + column, columns.extent(), false), place);
  return place;
}

Expr StateScan::of_columns(const std::function<Expr(const Coordinates&)>& of) const {
  const Expr any = of(at(n, c));
  if (tile.is_by_column) return any;
  const Expr tile_of = n % Halide::max(tiles, 1), first = columns.first(tile_of);
  Coordinates there = at(n, c);
  columns.place(tile_of, within(first + c, columns.extent()), there);
  const Expr are_all_there = first + used_columns <= columns.extent();
  return Halide::Internal::Call::make(any.type(), Halide::Internal::Call::if_then_else, {are_all_there, of(there), any}, Halide::Internal::Call::PureIntrinsic);
}

Coordinates StateScan::at(const Expr& task, const Expr& column, const Expr& token) const {
  Coordinates place = at(task, column);
  place[body.along] = tile.tokens() == 1 ? token : clamped(token, tokens, false);
  return place;
}

void StateScan::define_loops() {
  std::vector<Halide::Range> ranges = {{0, tile.rows}, {0, tile.row_blocks}, {0, group.extent()}, {0, chunks}};
  ranges.insert(tile.is_by_column ? ranges.end() : ranges.begin(), Halide::Range(0, used_columns));
  ranges.emplace_back(0, tasks);
  loops = RDom(ranges, "loops");
  const int first = tile.is_by_column ? 0 : 1;
  column = loops[tile.is_by_column ? 4 : 0], task = loops[5];
  row = loops[first], block = loops[first + 1], in_group = loops[first + 2], chunk = loops[first + 3];

  const Halide::Range of_columns(0, used_columns), channels(0, width), all(0, tasks);
  std::vector<Halide::Range> last_ranges = {of_columns, channels, all};
  if (tile.is_by_column) std::swap(last_ranges[0], last_ranges[1]);
  last_loops = RDom(last_ranges, "last_loops");
  last_column = last_loops[tile.is_by_column ? 1 : 0], last_channel = last_loops[tile.is_by_column ? 0 : 1], last_task = last_loops[2];
}

void StateScan::define_results(const Func& read, const Func& carried) {
  define_loops();
  if (!body.query) {
    steps(c, n) = 0;
    steps(column, task) = behind(carried(column, chunk, task), 0);
    return define_last();
  }
  const Expr of_columns = task % Halide::max(tiles, 1), index = columns.first(of_columns) + column;
  const Expr token = chunk * tile.tokens() + block * tile.rows + row;
  loops.where(Halide::likely(index < columns.extent()));
  if (tile.tokens() > 1) loops.where(Halide::likely(token < tokens));
  Coordinates place = at(task, column);
  columns.place(of_columns, within(index, columns.extent()), place);
  group.place(in_group, place);
  place[body.along] = within(token, tokens);
  Expr value = behind(carried(column, chunk, task), read(column, row, block, in_group, chunk, task));
  if (body.finish) value = body.finish(value, place);
  result(std::vector<Var>(body.out.rbegin(), body.out.rend())) = Halide::undef(value.type());
  result(innermost_first(body.out, place)) = value;
  if (body.state) define_last();
}

/// Behind the result, which is an output before it; behind the steps where there is none.
void StateScan::define_last() {
  const std::vector<std::string>& out = body.query ? body.state->out : body.out;
  const auto& finish = body.query ? body.state->finish : body.finish;
  const Expr of_columns = last_task % Halide::max(tiles, 1), index = columns.first(of_columns) + last_column;
  last_loops.where(Halide::likely(index < columns.extent()));
  Coordinates place = at(last_task, last_column);
  columns.place(of_columns, within(index, columns.extent()), place);
  place[body.over] = last_channel;
  Expr value = state(last_column, last_channel, last_task);
  if (!body.query) value = behind(steps(last_column, last_task), value);
  if (finish) value = finish(value, place);
  last(std::vector<Var>(out.rbegin(), out.rend())) = Halide::undef(value.type());
  last(innermost_first(out, place)) = value;
}

Stored StateScan::stored() const {
  if (!body.query) return {last, body.out};
  Stored all{result, body.out};
  if (body.state) all.beside = {{last, body.state->out}};
  return all;
}

}  // namespace attune
