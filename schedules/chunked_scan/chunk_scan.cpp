#include "schedules/chunked_scan/chunk_scan.h"

#include <algorithm>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/rewrites/store_beside.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::select;

namespace attune {

ChunkScan::ChunkScan(const RecurrenceBody& of, const Extents& extents, const ScanTile& cut, int lanes, PrefetchInto cache)
    : StateScan(of, extents, cut), padded_width(Halide::Internal::simplify(tiles_of(width, tile.rows) * tile.rows)),
      turned_edge(fixed_value(padded_width % lanes) == 0 ? std::min(lanes, tile.tokens()) : tile.rows) {
  define_operands();
  define_ahead(cache);
  if (has_channel_decay()) define_channel_decays();
  else if (body.log_decay) define_decays();
  define_written();
  if (body.query) define_read();
  define_carried();
  define_results(read, carried);
}

void ChunkScan::define_operands() {
  Coordinates place = at(n, 0, token(j));
  place[body.over] = clamped(d, width, false);
  key(d, j, m, n) = select(is_token(j) && d < width, Halide::cast<float>(body.key.at(place)), 0.f);
  turned_keys = TurnedSquares(turned_edge, d, j, {d, j, m, n}, key(d, j, m, n));
  key_by_token(j, d, m, n) = turned_keys.element();
  if (has_delta()) beta(j, m, n) = select(is_token(j), Halide::cast<float>(body.beta.at(place)), 0.f);
  if (!body.query) return;
  Coordinates of_row = at(n, 0, token(row()));
  of_row[body.over] = clamped(d, width, false);
  group.place(g, of_row);
  query(d, r, b, g, m, n) = Halide::cast<float>(body.query.at(of_row));
}

/// Keys, values and queries come from memory once: what copies them at the start of a chunk would wait for it. The rows of the next chunk are
/// prefetched a few at a time, with each block of the state that changes: of many lines at once some are dropped.
void ChunkScan::define_ahead(PrefetchInto cache) {
  constexpr int elements_of_line = cache_line_bytes / static_cast<int>(sizeof(float));
  const Expr each = tiles_of(tile.tokens(), Halide::max(state_blocks(), 1));
  const auto add = [&](const Piece& piece, const Expr& extent, const Expr& readers, const char* name) {
    const RDom near({{0, tiles_of(extent, elements_of_line)}, {0, each}, {0, readers}}, name);
    Coordinates there = at(n, near.x * elements_of_line);
    there[body.over] = near.x * elements_of_line;
    there[body.along] = token(tile.tokens() + p * each + near.y);
    group.place(near.z, there);
    const Expr line = prefetch_all(piece.at(there), {.along = is_const_one(extent) ? near.y : near.x}, cache);
    if (!line.defined()) return;
    if (!ahead.defined()) ahead(p, m, n) = 0;
    ahead(p, m, n) += line;
    ahead_rows.push_back(near);
  };
  if (lies_along(body.key, body.over)) add(body.key, width, 1, "later_keys");
  if (!body.columns.empty() && lies_along(body.value, body.columns.back())) add(body.value, used_columns, 1, "later_values");
  if (body.query && lies_along(body.query, body.over)) add(body.query, width, group.extent(), "later_queries");
  if (has_channel_decay() && lies_along(body.log_decay, body.over)) add(body.log_decay, width, 1, "later_decays");
  // Numbers by token share lines, which each of their tokens asks for.
  if (body.log_decay && !has_channel_decay()) add(body.log_decay, 1, 1, "later_decays");
  if (has_delta()) add(body.beta, 1, 1, "later_betas");
}

void ChunkScan::define_decays() {
  decay(j, m, n) = select(is_token(j), exp(body.log_decay.element(at(n, 0, token(j)))).expr, 1.f);
  const Halide::Var i("i-");
  fade(j, i, m, n) = select(j == i, 1.f, 0.f);
  const RDom later(1, tile.tokens() - 1, "later");
  fade(j, later, m, n) = select(j < later, fade(j, later - 1, m, n) * decay(later, m, n), fade(j, later, m, n));
  fading_key(d, j, m, n) = key(d, j, m, n) * fade(j, tile.tokens() - 1, m, n);
}

void ChunkScan::define_channel_decays() {
  Coordinates place = at(n, 0, token(j));
  place[body.over] = clamped(d, width, false);
  decay(d, j, m, n) = select(is_token(j) && d < width, exp(body.log_decay.element(place)).expr, 1.f);
  turned_decays = TurnedSquares(turned_edge, d, j, {d, j, m, n}, decay(d, j, m, n));
  decay_by_token(j, d, m, n) = turned_decays.element();
  const RDom later(1, tile.tokens() - 1, "later"), earlier(1, tile.tokens() - 1, "earlier");
  past_decay(d, j, m, n) = decay(d, j, m, n);
  past_decay(d, later, m, n) *= past_decay(d, later - 1, m, n);
  later_decay(d, j, m, n) = 1.f;
  const Expr from_last = tile.tokens() - 1 - earlier;
  later_decay(d, from_last, m, n) = later_decay(d, from_last + 1, m, n) * decay(d, from_last + 1, m, n);
  past_key(d, j, m, n) = key(d, j, m, n) * past_decay(d, j, m, n);
  fading_key(d, j, m, n) = key(d, j, m, n) * later_decay(d, j, m, n);
  if (has_delta()) define_faded(faded_overlap);
  if (!body.query) return;
  past_query(d, r, b, g, m, n) = query(d, r, b, g, m, n) * past_decay(d, row(), m, n);
  define_faded(faded_product);
}

/// Of tokens behind i they are anything: nothing reads them.
void ChunkScan::define_faded(Func& faded) const {
  const Halide::Var i("i-");
  faded(j, i, d, m, n) = key_by_token(j, d, m, n);
  const RDom later(1, tile.tokens() - 1, "later");
  const Expr before = faded(j, later - 1, d, m, n);
  faded(j, later, d, m, n) = select(j < later, before * decay_by_token(later, d, m, n), before);
}

Expr ChunkScan::past(const Expr& i) const { return fade.defined() ? fade(0, i, m, n) * decay(0, m, n) : Expr(); }

Expr ChunkScan::faded(const Expr& earlier, const Expr& later, const Expr& product) const {
  return fade.defined() ? product * fade(earlier, later, m, n) : product;
}

void ChunkScan::add_past(Func sum, const std::vector<Expr>& place, const std::function<Expr(Expr)>& weight, const Func& of) {
  const RDom before({{0, tile.rows}, {0, tile.row_blocks}}, "before");
  RDom whole = before;
  whole.where(before.y < b);
  sum(place) += weight(whole.y * tile.rows + whole.x) * of(c, whole.x, whole.y, m, n);
  const RDom own(0, tile.rows, "own");
  sum(place) = select(own.x <= r, sum(place) + weight(b * tile.rows + own.x) * of(c, own.x, b, m, n), sum(place));
}

void ChunkScan::define_written() {
  const Coordinates place = at(n, c, token(row()));
  const Expr value = select(is_token(row()), Halide::cast<float>(body.value.at(place)), 0.f);
  if (!has_delta()) {
    written(c, r, b, m, n) = value;
    return;
  }
  const RDom over(0, width, "overlap_over");
  overlap(j, r, b, m, n) = 0.f;
  overlap(j, r, b, m, n) += has_channel_decay() ? key_by_token(row(), over, m, n) * faded_overlap(j, row(), over, m, n)
                                                 : key(over, row(), m, n) * key_by_token(j, over, m, n);
  erase(j, r, b, m, n) = select(j < row(), beta(row(), m, n) * faded(j, row(), overlap(j, r, b, m, n)), 0.f);
  // forward substitution on the rows of the identity
  const Halide::Var i("i-");
  inverse(j, i, m, n) = select(j == i, 1.f, 0.f);
  erased = RDom({{0, tile.tokens()}, {0, tile.tokens()}}, "erased");
  if (!is_inverse_straight()) erased.where(erased.x < erased.y);
  const Expr before = inverse(j, erased.y, m, n);
  const Expr less = before - erase(erased.x, erased.y % tile.rows, erased.y / tile.rows, m, n) * inverse(j, erased.x, m, n);
  inverse(j, erased.y, m, n) = is_inverse_straight() ? select(erased.x < erased.y, less, before) : less;

  const RDom held_over(0, width, "held_over");
  held(c, r, b, m, n) = 0.f;
  held(c, r, b, m, n) += (has_channel_decay() ? past_key : key)(held_over, row(), m, n) * state(c, held_over, n);
  const Expr own_beta = beta(row(), m, n), of_past = fade.defined() ? own_beta * past(row()) : own_beta;
  rest(c, r, b, m, n) = select(strict_equal(own_beta, 0.f), value, value - of_past * held(c, r, b, m, n));
  solved(c, r, b, m, n) = 0.f;
  add_past(solved, {c, r, b, m, n}, [&](const Expr& earlier) { return inverse(earlier, row(), m, n); }, rest);
  written(c, r, b, m, n) = solved(c, r, b, m, n);
}

void ChunkScan::define_read() {
  const RDom over(0, width, "products_over");
  products(j, r, b, g, m, n) = 0.f;
  products(j, r, b, g, m, n) += query(over, r, b, g, m, n) * (has_channel_decay() ? faded_product(j, row(), over, m, n) : key_by_token(j, over, m, n));
  scores(j, r, b, g, m, n) = faded(j, row(), products(j, r, b, g, m, n));
  const RDom sums_over(0, width, "sums_over");
  const std::vector<Expr> place = {c, r, b, g, m, n};
  sums(c, r, b, g, m, n) = 0.f;
  sums(place) += (has_channel_decay() ? past_query : query)(sums_over, r, b, g, m, n) * state(c, sums_over, n);
  if (fade.defined()) sums(place) *= past(row());
  add_past(sums, place, [&](const Expr& earlier) { return scores(earlier, r, b, g, m, n); }, written);
  read(place) = sums(place);
}

void ChunkScan::define_carried() {
  const RDom written_by({{0, tile.rows}, {0, tile.row_blocks}}, "written_by");
  const Expr token_of = written_by.y * tile.rows + written_by.x;
  const Expr state_block = (c / tile.column_block) * (padded_width / tile.rows) + d / tile.rows;
  gain(c, d, m, n) = ahead.defined() ? after(ahead(state_block, m, n), 0.f) : Expr(0.f);
  gain(c, d, m, n) += (decay.defined() ? fading_key(d, token_of, m, n) : key(d, token_of, m, n)) * written(c, written_by.x, written_by.y, m, n);
  // The state is read before it changes: of all groups, of which there may be none.
  done(m, n) = 0;
  if (body.query) {
    const RDom readers(0, group.extent(), "readers");
    done(m, n) = behind(read(0, 0, 0, readers, m, n), 0);
  }
  carried_over = RDom(0, padded_width, "carried_over");
  Expr kept = state(c, carried_over, n);
  if (decay.defined()) kept = kept * (has_channel_decay() ? past_decay(carried_over, tile.tokens() - 1, m, n) : past(tile.tokens() - 1));
  carried(c, m, n) = 0.f;
  carried(c, m, n) = storing_over(behind(done(m, n), kept) + gain(c, carried_over, m, n), state(c, carried_over, n));
}

}  // namespace attune
