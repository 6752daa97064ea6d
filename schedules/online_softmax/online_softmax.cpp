#include "schedules/online_softmax/online_softmax.h"

#include <algorithm>
#include <limits>

#include "codegen/halide/numbers/proof.h"
#include "codegen/halide/numbers/strict.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/common/tiles.h"
#include "schedules/online_softmax/online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace attune {
namespace {

SoftmaxTiles tiles_from(const Machine& machine, const std::vector<Parameter>& values) {
  const std::vector<Parameter> all = with_values(online_softmax_parameters(machine, SizeClass::large), values);
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(all, name)); };
  return {machine.vector_bytes / 4, value("register_rows"), value("register_vectors"), value("query_tile"),
          value("key_tile"),        value("middle_tile"),   value("edge_tile"),        machine.has_bf16_dot,
          value("copy_values") != 0, static_cast<PrefetchInto>(value("prefetch"))};
}

bool is_whole(const Expr& extent, int tile) {
  const auto value = fixed_value(extent);
  return value && *value % tile == 0;
}

}  // namespace

SoftmaxStage::SoftmaxStage(const OnlineSoftmax& body, const Extents& extents, const SoftmaxTiles& tiles)
    : body_(body),
      extents_(extents),
      tiles_(tiles),
      queries_(extents.at(body.queries)),
      keys_(extents.at(body.keys)),
      depth_(extents.at(body.value_depth)),
      vectors_(body.is_of_rows ? Expr(0) : Halide::Internal::simplify((depth_ + tiles.lanes - 1) / tiles.lanes)),
      fixed_depth_(fixed_value(depth_)),
      batch_(vars_of(body.batch, body.batch)),
      key_batch_(vars_of(body.batch, body.key.dims)),
      value_batch_(vars_of(body.batch, body.value.dims)),
      bf16_(bf16_operands()),
      stored_rows_(body) {}

Coordinates SoftmaxStage::batch_coordinates() const {
  return vars_at(body_.batch);
}

/// The query of this row of the tile. Rows beyond the last query repeat it; they are not stored.
Expr SoftmaxStage::clamped_row() const {
  const Expr row = query_tile_ * tiles_.query_tile + row_group_ * tiles_.rows + row_;
  return max(min(row, queries_ - 1), 0);
}

/// Those of a query of the tile, of a key of a panel and of what is summed.
Coordinates SoftmaxStage::panel_coordinates() const {
  Coordinates at = batch_coordinates();
  place_over(body_, vars_of(body_.over, body_.over), at);
  at[body_.queries] = clamped_row();
  at[body_.keys] = max(min(panel_ * tiles_.panel() + column_, keys_ - 1), 0);
  return at;
}

/// Keys whose contracted dim is innermost in memory: squares of them are loaded along it and turned in registers.
bool SoftmaxStage::turns_keys_in_registers() const {
  return !body_.over.empty() && lies_along(body_.key, body_.over.back());
}

/// Copies of a tile of queries and of all keys of a batch index, turned so that vectors run along keys; of all its values, a group of vectors after the other.
void SoftmaxStage::define_panels() {
  if (copies_values()) value_panel_(joined({lane_, vector_, key_, vector_group_}, value_batch_)) = value_at(copied_depth(), min(key_, keys_ - 1));
  if (body_.score) return;
  if (bf16_) return define_bf16_panels();
  const Exprs over = vars_of(body_.over, body_.over);
  const Coordinates at = panel_coordinates();
  if (body_.query) query_panel_(joined(joined(over, {row_, row_group_, query_tile_}), batch_)) = query_of_product(body_, at);
  if (!body_.key) return;
  const Exprs panel = joined(joined(joined({column_}, over), {panel_}), key_batch_);
  if (!turns_keys_in_registers()) {
    key_panel_(panel) = body_.key.at(at);
    return;
  }
  const std::string& last = body_.over.back();
  Coordinates in_row = at;
  in_row[last] = clamped(Var(last), extents_.at(last), true);
  turned_keys_ = TurnedSquares(tiles_.square_of_keys(), Var(last), column_, panel, after(prefetch_key(panel), body_.key.at(in_row)));
  key_panel_(panel) = turned_keys_.element();
}

Span SoftmaxStage::rows_of_tile() const {
  const Expr first = query_tile_ * tiles_.query_tile;
  return {first, min(first + tiles_.query_tile, queries_) - 1, query_tile_, tiles_.query_tile};
}

/// Beyond the last query the last group stands for those that are not there.
Span SoftmaxStage::rows_of_group() const {
  const Expr group = min(query_tile_ * tiles_.row_groups() + row_group_, tiles_of(queries_, tiles_.rows) - 1), first = group * tiles_.rows;
  return {first, min(first + tiles_.rows, queries_) - 1, group, tiles_.rows};
}

/// What is known of a key block's visibility for these queries.
Visibility SoftmaxStage::visibility(const Span& rows, const Expr& block, int key_tile) const {
  Block box;
  for (const std::string& dim : body_.batch) box[dim] = {Var(dim), Var(dim)};
  box[body_.queries] = rows;
  box[body_.keys] = {block * key_tile, min(block * key_tile + key_tile, keys_) - 1, block, key_tile};
  return body_.visibility(box);
}

/// Some blocks can be told to be wholly visible. Otherwise (a mask of reals from memory) the mask is evaluated in large blocks, too.
bool SoftmaxStage::knows_visible_blocks() const {
  return !body_.visible ||
         (has_visibility() &&
          !is_const_zero(Halide::Internal::simplify(visibility(rows_of_tile(), Var("block-"), tiles_.key_tile).certainly)));
}

/// Something may be visible in each block of edge_tile keys of a block of key_tile keys; in the block, where these are too many to ask for each.
Expr SoftmaxStage::may_be_visible_throughout(const Expr& block, int key_tile) const {
  constexpr int most = 8;
  const int parts = key_tile / tiles_.edge_tile;
  if (parts > most) return visibility(rows_of_tile(), block, key_tile).possibly;
  Expr all = Halide::Internal::const_true();
  for (int part = 0; part < parts; ++part) all = all && visibility(rows_of_tile(), block * parts + part, tiles_.edge_tile).possibly;
  return all;
}

/// A block of key_tile keys that a pass over whole blocks takes: all of its keys are there, and all are visible (or, where that cannot be
/// known, may be throughout).
Expr SoftmaxStage::is_whole_block(const Expr& block, int key_tile) const {
  const Expr is_there = block * key_tile + key_tile <= keys_;
  if (!has_visibility()) return is_there;
  return is_there && (knows_visible_blocks() ? visibility(rows_of_tile(), block, key_tile).certainly : may_be_visible_throughout(block, key_tile));
}

/// No block whose keys are all there is left for smaller blocks.
bool SoftmaxStage::takes_all_whole_blocks(int key_tile) const {
  if (!has_visibility()) return true;
  return !knows_visible_blocks() && is_proved(may_be_visible_throughout(Var("block-"), key_tile));
}

/// Something is known of whole blocks under the mask.
bool SoftmaxStage::has_visibility() const { return body_.visible && body_.visibility; }

TileOrder SoftmaxStage::tile_order() const {
  if (!has_visibility()) return TileOrder::first_to_last;
  return order_of_tiles(visibility(rows_of_tile(), key_block_, tiles_.edge_tile).possibly, query_tile_, key_block_);
}

/// Whole blocks without a mask, the largest first, then what is left in blocks of edge_tile keys with the mask. Where no block can be known
/// to be wholly visible, the blocks of key_tile keys have the mask, too. A product in matrix tiles takes so little time that scores of a whole tile of
/// queries, which the first-level cache does not hold, would cost more than reading keys again for each group of rows.
/// The predicates of blocks are opaque: what they say of the first block would be written into indices of loads (where products of pairs of bf16 are then
/// not found), and that only one tile of queries has blocks into where memory begins, for the other tiles, too.
void SoftmaxStage::define_passes() {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  const Expr none = body_.has_softmax ? select(vector_ >= vectors_ + 1, lowest, 0.f) : total_of_nothing(body_);
  state_(joined({lane_, vector_, row_, row_group_, query_tile_}, batch_)) = none;
  if (body_.has_softmax) reference_(per_row_of_tile()) = lowest;
  const bool has_mask_everywhere = !knows_visible_blocks(), judges_groups = has_visibility() && !has_mask_everywhere;
  std::vector<int> whole_tiles = {tiles_.key_tile};
  if (tiles_.edge_tile <= tiles_.middle_tile && tiles_.middle_tile < tiles_.key_tile && !has_mask_everywhere)
    whole_tiles.push_back(tiles_.middle_tile);
  // Blocks of `tile` keys leave out those that passes before took: without a mask they begin behind the last of these.
  std::vector<int> taken;
  const auto first_block = [&](int tile) -> Expr { return taken.empty() || has_visibility() ? Expr(0) : keys_ / taken.back() * (taken.back() / tile); };
  const auto leave_taken = [&](RDom& blocks, int tile) {
    for (const int larger : taken)
      if (has_visibility()) blocks.where(opaque_condition(!is_whole_block(blocks[1] / (larger / tile), larger)));
  };
  for (const int tile : whole_tiles) {
    RDom blocks({{0, vectors_ + state_vectors_beside()}, {first_block(tile), keys_ / tile - first_block(tile)}}, "whole_" + std::to_string(tile));
    if (has_visibility()) blocks.where(opaque_condition(is_whole_block(blocks[1], tile)));
    leave_taken(blocks, tile);
    define_pass({.key_tile = tile, .has_mask = has_mask_everywhere, .has_tail = false, .by_row_groups = tiles_.in_matrix_tiles, .blocks = blocks});
    if (is_whole(keys_, tile) && takes_all_whole_blocks(tile)) return;
    taken.push_back(tile);
  }
  const int edge = tiles_.edge_tile;
  RDom rest({{0, vectors_ + state_vectors_beside()}, {first_block(edge), tiles_of(keys_, edge) - first_block(edge)}}, "rest");
  if (has_visibility()) rest.where(opaque_condition(visibility(rows_of_tile(), rest[1], edge).possibly));
  leave_taken(rest, edge);
  if (judges_groups) rest.where(opaque_condition(visibility(rows_of_group(), rest[1], edge).possibly));
  define_pass({.key_tile = edge,
               .has_mask = static_cast<bool>(body_.visible),
               .has_tail = !is_whole(keys_, edge),
               .by_row_groups = judges_groups || tiles_.in_matrix_tiles,
               .blocks = rest});
}

void SoftmaxStage::define_out() {
  const Var query(body_.queries), depth(body_.value_depth);
  const Exprs rows = joined({row_, row_group_, query_tile_}, batch_);
  const auto total_of = [&](int lane) { return Expr(state_(joined({lane, vectors_}, rows))); };
  if (keeps_total(body_)) total_(rows) = folded_lanes(body_, tiles_.lanes, total_of);
  if (stored_rows_.are_wanted()) {
    Coordinates at = batch_coordinates();
    at[body_.queries] = clamped_row();
    const Expr greatest = stored_rows_.maximum.is_wanted() ? state_(joined({0, vectors_ + 1}, rows)) * ln_2 : Expr(0.f);
    kept_total_(rows) = stored_rows_.storing(total_(rows), body_.has_softmax ? reference_(rows) * ln_2 : Expr(0.f), greatest, at);
  }

  // A difference, not a remainder, so that bounds inference sees how many row groups the last tile has.
  const Expr tile = query / tiles_.query_tile, in_tile = max(query - tile * tiles_.query_tile, 0);
  const Exprs row = joined({query % tiles_.rows, in_tile / tiles_.rows, tile}, batch_);
  const Func& totals = stored_rows_.are_wanted() ? kept_total_ : total_;
  const auto state = [&](const Expr& lane, const Expr& vector) { return Expr(state_(joined({lane, vector}, row))); };
  const Expr total = keeps_total(body_) ? Expr(totals(row)) : Expr();
  const auto sum_of_values = [&] {
    const Expr sum = state(depth % tiles_.lanes, depth / tiles_.lanes);
    // One division per row.
    return body_.has_softmax ? select(strict_equal(total, 0.f), 0.f, sum * (1.f / total)) : sum;
  };
  const auto number = [&] { return number_of_row(body_, total, body_.has_softmax ? Expr(reference_(row)) : Expr(0.f)); };
  const Expr result = body_.is_of_rows ? number() : sum_of_values();
  Coordinates at = batch_coordinates();
  at[body_.queries] = query;
  at[body_.value_depth] = depth;
  out_(vars_of(body_.out, body_.out)) = finished(body_, result, total, at);
}

Stored SoftmaxStage::build() {
  // Says which are the finest blocks whose visibility the passes ask for, before they ask for any: what is known of a tensor's larger blocks is
  // made of those of its finer ones that were looked up first (codegen/halide/bodies/block_ranges.h), otherwise of all their elements.
  if (has_visibility()) visibility(rows_of_group(), Var("block-"), tiles_.edge_tile);
  tile_order_ = tile_order();
  define_panels();
  define_passes();
  define_out();
  schedule_out();
  schedule_panels();
  for (SoftmaxPass& pass : passes_) schedule_pass(pass);
  return {out_, body_.out, stored_rows_.results(), {}, tile_order_ == TileOrder::last_to_first ? std::vector{query_tile_.name()} : std::vector<std::string>()};
}

Stored online_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  if (const std::string problem = online_softmax_problem(machine, values); !problem.empty()) throw Halide::CompileError(problem);
  return SoftmaxStage(body, extents, tiles_from(machine, values)).build();
}

}  // namespace attune
