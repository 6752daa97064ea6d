// Prefetches keys and queries before they are read: they come from memory once, and each is then waited for by what is done to it at once.
#include "schedules/common/tiles.h"
#include "schedules/online_softmax/online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace attune {

/// What prefetches the keys that follow the next ones, one cache line per square, so that memory brings them while these are turned. (On
/// Zen 4 packing keys that come from memory takes 0.6 of the time with these lines in the second-level cache;
/// in the first, from 4 to 16 kB ahead, 1.)
Expr SoftmaxStage::prefetch_key(const Exprs& panel) {
  const std::string& last = body_.over.back();
  Coordinates at = panel_coordinates();
  at[last] = Var(last) * tiles_.square_of_keys();
  at[body_.keys] = panel_ * tiles_.panel() + column_ + Halide::max(rows_ahead(extents_.at(last)), 1);
  const Expr line = prefetch(body_.key.load(at), tiles_.prefetch_keys);
  if (!line.defined()) return {};
  define_prefetch(later_keys_, panel, line);
  Exprs place = panel;
  for (Expr& index : place)
    if (const auto* var = index.as<Halide::Internal::Variable>(); var != nullptr && var->name == last) index = index / tiles_.square_of_keys();
  return later_keys_(place);
}

void SoftmaxStage::schedule_prefetched_keys(const Var& square) {
  if (!later_keys_.defined()) return;
  later_keys_.compute_at(key_panel_, square).unroll(column_);
  later_keys_.update().unroll(column_);
}

/// What prefetches, before a panel's product is summed, the elements that its scores then read by query and key: biases, factors, masks. Each is read
/// once, in rows as short as a block of keys: prefetchers do not follow. (Prefetched a panel earlier they are gone from the first-level cache again.)
/// CPUs whose keys are left to prefetchers are those (Intel's) that wait where `prefetchnta` asks, which brings lines into no other cache.
Expr SoftmaxStage::prefetch_read_scores(SoftmaxPass& pass) {
  pass.read_lines = RowLines(tiles_.panel(), sizeof(float), pass.named("read_lines"));
  Coordinates at = batch_coordinates();
  at[body_.queries] = clamped_row();
  at[body_.keys] = key_of(pass, pass.read_lines.first_element(), panel_);
  Expr read = changed_score(body_, Halide::Internal::Variable::make(Halide::Float(32), "any_score"), at, false);
  if (pass.has_mask) read = select(body_.visible(at), read, 0.f);
  const Expr line = prefetch_all(read, {.along = pass.read_lines.loop(), .rows = row_.name()},
                                 tiles_.prefetch_keys == PrefetchInto::nowhere ? PrefetchInto::second_level : PrefetchInto::first_level);
  if (!line.defined()) return {};
  pass.asked_scores = Func(pass.named("asked_scores"));
  define_prefetch(pass.asked_scores, per_row({panel_}), line);
  return pass.asked_scores(per_row({panel_}));
}

void SoftmaxStage::schedule_prefetched_scores(SoftmaxPass& pass) {
  if (!pass.asked_scores.defined()) return;
  pass.asked_scores.compute_at(pass.scores, row_group_).bound_extent(row_, tiles_.rows).unroll(row_);
  Halide::Stage update = pass.asked_scores.update();
  update.reorder(pass.read_lines.loop(), row_).unroll(row_);
  pass.read_lines.unroll_few(update);
}

/// What prefetches for each row of a group the queries of the next tile, in every block but the largest: which of them come is
/// known at run time, and a line that is near already costs no more than a load. Tiles with the largest blocks compute so much that the copy of
/// their queries hardly counts. (Prefetching a whole tile at once, while the one before is copied, would wait for memory as the copy does.)
Expr SoftmaxStage::prefetch_query(SoftmaxPass& pass) {
  if (pass.key_tile == tiles_.key_tile || body_.over.empty() || !lies_along(body_.query, body_.over.back())) return {};
  pass.lines = RowLines(extents_.at(body_.over.back()), bf16_ ? 2 : 4, pass.named("lines"));
  Coordinates at = batch_coordinates();
  for (const std::string& dim : body_.over) at[dim] = 0;
  at[body_.over.back()] = pass.lines.first_element();
  at[body_.queries] = (query_tile_ + (tile_order_ == TileOrder::last_to_first ? -1 : 1)) * tiles_.query_tile + row_group_ * tiles_.rows + row_;
  if (tiles_.prefetch_keys == PrefetchInto::nowhere) return {};
  const Expr line = prefetch(body_.query.load(at), PrefetchInto::first_level);
  if (!line.defined()) return {};
  pass.later_queries = Func(pass.named("asked_queries"));
  define_prefetch(pass.later_queries, per_row({}), line);
  return pass.later_queries(per_row({}));
}

void SoftmaxStage::schedule_prefetched_queries(SoftmaxPass& pass) {
  if (!pass.later_queries.defined()) return;
  per_row_group(pass.later_queries, pass).unroll(row_);
  Halide::Stage update = pass.later_queries.update();
  update.reorder(pass.lines.loop(), row_, row_group_).unroll(row_);
  pass.lines.unroll_few(update);
}

}  // namespace attune
