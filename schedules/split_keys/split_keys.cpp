#include "schedules/split_keys/split_keys.h"

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/split_keys/split_keys_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace attune {
namespace {

bool is_whole_vectors(const Expr& extent, int lanes) { return fixed_value(extent).value_or(1) % lanes == 0; }

}  // namespace

SplitKeysStage::SplitKeysStage(const OnlineSoftmax& body, const Extents& extents, const SplitTiles& tiles)
    : body_(body),
      extents_(extents),
      tiles_(tiles),
      keys_(extents.at(body.keys)),
      depth_(extents.at(body.value_depth)),
      batch_(vars_of(body.batch, dims_of_keys(body))),
      rows_(dims_of_rows(body), extents),
      all_row_groups_(tiles_of(rows_.extent(), tiles.rows)),
      row_tiles_(tiles_of(all_row_groups_, tiles.row_groups)),
      row_groups_(tiles.row_groups == 1 ? Expr(1) : tiles_of(all_row_groups_, Halide::max(row_tiles_, 1))),
      splits_(Halide::max(tiles_of(keys_, tiles.split_tile), 1)),
      keys_are_whole_(!body.over.empty() && is_whole_vectors(extents.at(body.over.back()), tiles.lanes)),
      key_places_{tiles.lanes},
      value_places_{tiles.lanes},
      stored_rows_(body) {
  find_pairs();
}

Exprs SplitKeysStage::per_row(Exprs inner) const { return joined(joined(std::move(inner), {row_, row_group_, block_, row_tile_, split_}), batch_); }

Exprs SplitKeysStage::per_key(Exprs inner) const { return joined(joined(std::move(inner), {block_, split_}), batch_); }

/// The row at row_, row_group_ and row_tile_, the last one instead of any beyond it.
Expr SplitKeysStage::row_index() const {
  return max(min((row_tile_ * row_groups_ + row_group_) * tiles_.rows + row_, rows_.extent() - 1), 0);
}

Coordinates SplitKeysStage::batch_coordinates() const {
  return vars_at(dims_of_keys(body_));
}

/// Those of the batch and of the row at row_, row_group_ and row_tile_.
Coordinates SplitKeysStage::row_coordinates() const {
  Coordinates at = batch_coordinates();
  const std::vector<std::string> dims = dims_of_rows(body_);
  if (dims.size() == 1) {
    at[dims[0]] = row_index();
    return at;
  }
  for (std::size_t n = 0; n < dims.size(); ++n) at[dims[n]] = within(place_(row_, row_group_, row_tile_)[static_cast<int>(n)], extents_.at(dims[n]));
  return at;
}

/// The key at a place in the block, the last one instead of any beyond it.
Expr SplitKeysStage::key_at(const Expr& place) const { return max(min(first_key() + place, keys_ - 1), 0); }

Expr SplitKeysStage::first_key() const { return split_ * tiles_.split_tile + block_ * tiles_.key_tile; }

/// Rows, once for all blocks of keys; lanes beyond the contracted dim repeat its last element.
void SplitKeysStage::define_query_panel() {
  const std::vector<std::string> dims = dims_of_rows(body_);
  if (dims.size() > 1) {
    Coordinates at;
    rows_.place(row_index(), at);
    std::vector<Expr> place;
    for (const std::string& dim : dims) place.push_back(at.at(dim));
    place_(row_, row_group_, row_tile_) = Halide::Tuple(place);
  }
  if (body_.score || body_.over.empty()) return;
  const std::string& last = body_.over.back();
  const Exprs over = vars_of(body_.over, body_.over);
  Coordinates at = row_coordinates();
  place_over(body_, over, at);
  const Expr index = key_places_.element(lane_, Var(last));
  at[last] = keys_are_whole_ ? index : min(likely(index), extents_.at(last) - 1);
  if (body_.query) query_panel_(joined(joined(joined({lane_}, over), {row_, row_group_, row_tile_}), batch_)) = query_of_product(body_, at);
}

void SplitKeysStage::define_scores() {
  Coordinates at = row_coordinates();
  const Expr key = first_key() + key_;
  at[body_.keys] = max(min(likely(key), keys_ - 1), 0);
  const auto product = [&]() -> Expr {
    define_product();
    return product_sum_(per_row({key_}));
  };
  const Expr score = changed_score(body_, raw_score(body_, at, product), at, is_base_2(body_));
  scores_(per_row({key_})) = select(unlifted_condition(is_seen(body_, at, key < keys_)), score, hidden_score(body_));
}

void SplitKeysStage::define_weights() {
  block_vectors_ = RDom(0, tiles_.key_tile / tiles_.lanes, "block_vectors");
  block_vectors_.where(first_key() + block_vectors_.x * tiles_.lanes < keys_);
  lanes_ = RDom(0, tiles_.lanes, "lanes");
  const Exprs lane_of_vector = per_row({block_vectors_.x * tiles_.lanes + lane_});
  if (body_.has_softmax) define_powers(lane_of_vector);
  if (body_.weight) {
    Coordinates at = row_coordinates();
    at[body_.keys] = max(min(likely(first_key() + key_), keys_ - 1), 0);
    changed_weights_(per_row({key_})) = body_.weight(weights()(per_row({key_})), at);
  }
  if (!keeps_total(body_)) return;
  sum_by_lane_(per_row({lane_})) = total_of_nothing(body_);
  sum_by_lane_(per_row({lane_})) = folded(body_, sum_by_lane_(per_row({lane_})), term_of_total(body_, weights()(lane_of_vector)));
}

void SplitKeysStage::define_powers(const Exprs& lane_of_vector) {
  maximum_by_lane_(per_row({lane_})) = lowest;
  maximum_by_lane_(per_row({lane_})) = max(maximum_by_lane_(per_row({lane_})), scores_(lane_of_vector));
  maximum_(per_row({})) = lowest;
  maximum_(per_row({})) = max(maximum_(per_row({})), maximum_by_lane_(per_row({lanes_.x})));
  reference_(per_row({})) = ceil(maximum_(per_row({})));
  weights_(per_row({key_})) = softmax_exp2(scores_(per_row({key_})) - reference_(per_row({})), least_weight);
}

/// lane_ of a vector of values that lie in order.
Expr SplitKeysStage::value_at(const Expr& vector, const Expr& key, bool is_whole) const {
  Coordinates at = batch_coordinates();
  const Expr depth = vector * tiles_.lanes + lane_;
  at[body_.value_depth] = is_whole ? depth : min(depth, depth_ - 1);
  at[body_.keys] = key_at(key);
  return body_.value.at(at);
}

/// Groups of keys that stay in the first-level cache while all results take them: whole groups of register_vectors vectors first, then
/// the whole vectors that are left, then a last one that is not. Keys beyond the last one are not summed: the last one's value in their
/// stead may be infinite, times a weight of 0.
void SplitKeysStage::define_partial() {
  const Func weights = body_.weight ? changed_weights_ : this->weights();
  const Expr vectors = Halide::Internal::simplify(depth_ / tiles_.lanes);
  const bool in_pairs = !is_const_zero(value_places_.paired);
  const int group = results_in_registers(in_pairs), lanes = tiles_.lanes, key_groups = tiles_.key_tile / lanes;
  const auto add = [&](const Expr& vector, const Expr& key, const Expr& value) {
    partial_(per_row({lane_, vector})) += weights(per_row({key})) * value;
  };
  partial_(per_row({lane_, vector_})) = 0.f;
  const auto add_rest = [&](const char* name, const Expr& first, const Expr& count, bool is_whole) {
    RDom rest({{0, lanes}, {0, Halide::Internal::simplify(count)}, {0, key_groups}}, name);
    rest.where(first_key() + rest[2] * lanes < keys_);
    rest.where(first_key() + rest[2] * lanes + rest[0] < keys_);
    const Expr vector = first + rest[1], key = rest[2] * lanes + rest[0];
    add(vector, key, value_at(vector, key, is_whole));
    rests_.push_back(rest);
  };
  if (fixed_value(vectors) != 0) {
    whole_ = RDom({{0, group}, {0, lanes}, {0, vectors / group}, {0, key_groups}}, "whole");
    whole_.where(first_key() + whole_[3] * lanes < keys_);
    whole_.where(first_key() + whole_[3] * lanes + whole_[1] < keys_);
    const Expr vector = whole_[2] * group + whole_[0], key = whole_[3] * lanes + whole_[1];
    const Expr value = in_pairs ? paired_value_at(whole_[2] * (group / 2) + whole_[0] / 2, whole_[0] % 2, key) : value_at(vector, key, true);
    add(vector, key, prefetching_value(value, whole_[0], vector * lanes, key, in_pairs));
  }
  if (fixed_value(vectors % group) != 0) add_rest("rest", vectors / group * group, vectors % group, true);
  if (fixed_value(depth_ % lanes) != 0) add_rest("tail", vectors, tiles_of(depth_, lanes) - vectors, false);
}

/// Some key of the block exists and may be visible to some row: rows of a tile may be any queries of any head.
Expr SplitKeysStage::is_visited(const Expr& block) const {
  const Expr first = split_ * tiles_.split_tile + block * tiles_.key_tile, exists = first < keys_;
  if (!body_.visible || !body_.visibility) return exists;
  Block box;
  for (const std::string& dim : dims_of_keys(body_)) box[dim] = {Var(dim), Var(dim)};
  for (const std::string& dim : dims_of_rows(body_)) box[dim] = {0, extents_.at(dim) - 1};
  const int blocks_in_split = tiles_.split_tile / tiles_.key_tile;
  box[body_.keys] = {first, min(first + tiles_.key_tile, keys_) - 1, split_ * blocks_in_split + block, tiles_.key_tile};
  return exists && body_.visibility(box).possibly;
}

void SplitKeysStage::define_out() {
  all_splits_ = RDom(0, splits_, "all_splits");
  const Exprs row = joined({row_, row_group_, row_tile_}, batch_), row_of_split = joined({row_, row_group_, row_tile_, all_splits_.x}, batch_);
  body_.has_softmax ? define_merge(row, row_of_split) : define_added(row, row_of_split);
  state_lanes_ = RDom(0, tiles_.lanes, "state_lanes");
  if (keeps_total(body_)) define_total(row);
  if (stored_rows_.are_wanted()) {
    Coordinates at = batch_coordinates();
    rows_.place(row_index(), at);
    for (const std::string& dim : dims_of_rows(body_)) at[dim] = within(at[dim], extents_.at(dim));
    const Expr reference = body_.has_softmax ? maximum_of_splits_(row) * ln_2 : Expr(0.f);
    kept_total_(row) = stored_rows_.storing(total_(row), reference, greatest_.defined() ? greatest_(row) * ln_2 : Expr(0.f), at);
  }

  Coordinates at = batch_coordinates();
  Expr index = 0;
  for (const std::string& dim : dims_of_rows(body_)) {
    at[dim] = Var(dim);
    index = index * extents_.at(dim) + at[dim];
  }
  const Var depth(body_.value_depth);
  at[body_.value_depth] = depth;
  const Expr group = index / tiles_.rows, tile = group / Halide::max(row_groups_, 1);
  const Exprs out_row = joined({index % tiles_.rows, within(group - tile * row_groups_, row_groups_), within(tile, row_tiles_)}, batch_);
  const Expr vector = within(value_places_.vector(depth), tiles_of(depth_, tiles_.lanes));
  const Func& totals = stored_rows_.are_wanted() ? kept_total_ : total_;
  const Expr total = keeps_total(body_) ? Expr(totals(out_row)) : Expr(), sum = sum_(joined({value_places_.lane(depth), vector}, out_row));
  const Expr divided = body_.has_softmax ? select(strict_equal(total, 0.f), 0.f, sum / total) : sum;
  const Expr reference = body_.has_softmax ? Expr(maximum_of_splits_(out_row)) : Expr(0.f);
  const Expr result = body_.is_of_rows ? number_of_row(body_, total, reference) : divided;
  out_(vars_of(body_.out, body_.out)) = finished(body_, result, total, at);
}

Stored SplitKeysStage::build() {
  define_query_panel();
  define_scores();
  define_weights();
  define_partial();
  define_splits();
  define_out();
  schedule_out();
  schedule_splits();
  schedule_scores();
  schedule_weights();
  schedule_partial();
  return {out_, body_.out, stored_rows_.results()};
}

Stored split_keys(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  if (const std::string problem = split_keys_problem(machine, values); !problem.empty()) throw Halide::CompileError(problem);
  const std::vector<Parameter> all = with_values(split_keys_parameters(machine, SizeClass::few), values);
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(all, name)); };
  return SplitKeysStage(body, extents,
                        {machine.vector_bytes / 4, value("split_tile"), value("key_tile"), value("register_rows"), value("row_groups"), value("register_keys"),
                         value("register_vectors"), static_cast<PrefetchInto>(value("prefetch")), machine.registers / 2})
      .build();
}

}  // namespace attune
