#include <algorithm>

#include "codegen/halide/numbers/bf16.h"
#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"
#include "codegen/halide/rewrites/store_beside.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/common/tiles.h"
#include "schedules/online_softmax/online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Internal::Call;

namespace attune {

/// The arguments of a pass's Func: `inner`, then the dims that all of them have.
Exprs SoftmaxStage::per_row(Exprs inner) const {
  return joined(joined(std::move(inner), {row_, row_group_, key_block_, query_tile_}), batch_);
}

Expr SoftmaxStage::place_of(const SoftmaxPass& pass, const Expr& column, const Expr& panel) const {
  return key_block_ * pass.key_tile + panel * tiles_.panel() + column;
}

/// There is a key at the place in the block.
Expr SoftmaxStage::exists(const SoftmaxPass& pass, const Expr& column, const Expr& panel) const {
  return place_of(pass, column, panel) < keys_;
}

/// The key at a place in the block; the last one instead of any beyond it.
Expr SoftmaxStage::key_of(const SoftmaxPass& pass, const Expr& column, const Expr& panel) const {
  const Expr key = place_of(pass, column, panel);
  return pass.has_tail ? max(min(key, keys_ - 1), 0) : key;
}

void SoftmaxStage::define_pass(const KeyBlocks& blocks) {
  SoftmaxPass pass(blocks);
  pass.update = static_cast<int>(passes_.size());
  pass.row_vectors = RDom(0, tiles_.vectors, 0, tiles_.panels(pass.key_tile), "row_vectors");
  define_scores(pass);
  define_weights(pass);
  if (!body_.is_of_rows) define_partial(pass);
  define_update(pass);
  passes_.push_back(pass);
}

/// The score before body.change.
Expr SoftmaxStage::raw_score(SoftmaxPass& pass, const Coordinates& at) {
  if (body_.score) return body_.score.at(at);
  if (bf16_) return bf16_product(pass);
  Coordinates term_at = at;
  Exprs over;
  if (!body_.over.empty()) {
    Halide::Region ranges;
    for (auto dim = body_.over.rbegin(); dim != body_.over.rend(); ++dim) ranges.emplace_back(0, extents_.at(*dim));
    pass.over = RDom(ranges, "over");
    for (int n = 0; n < pass.over.dimensions(); ++n) over.emplace_back(pass.over[n]);
    place_over(body_, over, term_at);
  }
  const Expr panel = key_block_ * tiles_.panels(pass.key_tile) + panel_;
  Expr query, key;
  if (body_.query) query = query_panel_(joined(joined(over, {row_, row_group_, query_tile_}), batch_));
  if (body_.key) key = key_panel_(joined(joined(joined({column_}, over), {panel}), key_batch_));
  const Expr term = score_term(body_, query, key, term_at);
  if (over.empty()) return term;
  pass.product = Func(pass.named("product"));
  pass.product(per_row({column_, panel_})) = body_.combine ? Expr(0.f) : after(prefetch_read_scores(pass), 0.f);
  pass.product(per_row({column_, panel_})) += term;
  return pass.product(per_row({column_, panel_}));
}

/// Whether the key at a place is there and visible; undefined where all are. What a mask reads by key lies in order in a block with all its keys;
/// indices that are clamped to the last key would be loaded from one by one there, too.
Expr SoftmaxStage::is_visible(const SoftmaxPass& pass, const Coordinates& at) const {
  if (!pass.has_tail) return pass.has_mask ? body_.visible(at) : Expr();
  const Expr is_key = exists(pass, column_, panel_);
  if (!pass.has_mask) return is_key;
  Coordinates in_order = at;
  in_order[body_.keys] = Halide::unsafe_promise_clamped(place_of(pass, column_, panel_), 0, keys_ - 1);
  const Expr has_all_keys = (key_block_ + 1) * pass.key_tile <= keys_;
  return Call::make(Halide::Bool(), Call::if_then_else, {has_all_keys, body_.visible(in_order), body_.visible(at) && is_key}, Call::PureIntrinsic);
}

void SoftmaxStage::define_scores(SoftmaxPass& pass) {
  Coordinates at = batch_coordinates();
  at[body_.queries] = clamped_row();
  at[body_.keys] = key_of(pass, column_, panel_);
  Expr score = changed_score(body_, raw_score(pass, at), at, is_base_2(body_));
  const Expr visible = is_visible(pass, at);
  pass.scores = Func(pass.named("scores"));
  if (visible.defined()) score = select(unlifted_condition(visible), score, hidden_score(body_));
  pass.scores(per_row({column_, panel_})) = score;
  // Of what is stored, while it is in registers; scores that take more than the product would be computed twice.
  if (!body_.has_softmax || !pass.product.defined() || body_.combine || body_.change || visible.defined()) return;
  Expr maximum;
  for (int vector = 0; vector < tiles_.vectors; ++vector) {
    const Expr of_vector = Halide::Internal::substitute(column_.name(), vector * tiles_.lanes + lane_, score);
    maximum = maximum.defined() ? max(maximum, of_vector) : of_vector;
  }
  pass.panel_maximum = Func(pass.named("panel_maximum"));
  pass.panel_maximum(per_row({lane_, panel_})) = maximum;
}

Exprs SoftmaxStage::lane_of(const RDom& vectors) const { return per_row({vectors.x * tiles_.lanes + lane_, vectors.y}); }

/// Without a softmax scores are weights, or become them.
void SoftmaxStage::define_weights(SoftmaxPass& pass) {
  if (body_.has_softmax) {
    define_powers(pass);
    define_changed_weights(pass, [&](const Exprs& place) { return loaded_weight(pass.weights(place)); });
  } else if (body_.weight) {
    define_changed_weights(pass, [&](const Exprs& place) { return Expr(pass.scores(place)); });
  } else if (rounds_weights()) {
    pass.weights = Func(pass.named("weights"));
    pass.weights(per_row({column_, panel_})) = bf16_bits(pass.scores(per_row({column_, panel_})));
  }
  if (!keeps_total(body_)) return;
  pass.sum_by_lane = Func(pass.named("sum_by_lane"));
  pass.sum_by_lane(per_row({lane_})) = total_of_nothing(body_);
  const Exprs lane = lane_of(pass.row_vectors);
  const Func& exact = body_.has_softmax ? pass.exact_weights : pass.scores;
  const Expr term = term_of_total(body_, exact.defined() ? Expr(exact(lane)) : loaded_weight(pass.weights(lane)));
  pass.sum_by_lane(per_row({lane_})) = folded(body_, pass.sum_by_lane(per_row({lane_})), term);
}

/// What body.weight makes of what `unchanged` gives of a place.
void SoftmaxStage::define_changed_weights(SoftmaxPass& pass, const std::function<Expr(const Exprs& place)>& unchanged) {
  if (!body_.weight) return;
  Coordinates at = batch_coordinates();
  at[body_.queries] = clamped_row();
  at[body_.keys] = key_of(pass, column_, panel_);
  pass.changed_weights = Func(pass.named("changed_weights"));
  const Expr changed = body_.weight(unchanged(per_row({column_, panel_})), at);
  pass.changed_weights(per_row({column_, panel_})) = rounds_weights() ? bf16_bits(changed) : changed;
}

void SoftmaxStage::define_powers(SoftmaxPass& pass) {
  define_reference(pass);
  pass.weights = Func(pass.named("weights"));
  const Expr score = pass.scores(per_row({column_, panel_})), reference = behind(pass.raised(per_row({})), reference_(per_row_of_tile()));
  // The logarithm of the total is wanted to f32: it is not that of weights rounded to bf16.
  if (rounds_weights() && stored_rows_.log_sum_exp.is_wanted()) {
    pass.exact_weights = Func(pass.named("exact_weights"));
    pass.exact_weights(per_row({column_, panel_})) = softmax_exp2(score - reference, least_weight);
    pass.weights(per_row({column_, panel_})) = stored_weight(pass.exact_weights(per_row({column_, panel_})));
  } else {
    pass.weights(per_row({column_, panel_})) =
        rounds_weights() ? softmax_exp2_as_bf16(strict_subtract(score, strict_add(reference, 0.5f)), least_weight) : softmax_exp2(score - reference, least_weight);
  }
}

Expr SoftmaxStage::value_at(const Expr& depth, const Expr& key) const {
  Coordinates at = batch_coordinates();
  at[body_.value_depth] = depth;
  at[body_.keys] = key;
  return body_.value.at(at);
}

/// Vectors of value_depth that are summed in registers at once: of a known number groups are as even as can be.
int SoftmaxStage::vectors_in_group() const {
  const int vectors = std::max(fixed_value(vectors_).value_or(tiles_.vectors), 1), groups = (vectors + tiles_.vectors - 1) / tiles_.vectors;
  return (vectors + groups - 1) / groups;
}

/// Those that whole groups leave: as one group if their number is known, else in groups of `most`, of half as many, and so on.
std::vector<VectorGroups> SoftmaxStage::last_vectors(int most) const {
  int group = vectors_in_group();
  if (const std::optional<int> vectors = fixed_value(vectors_)) {
    if (*vectors % group == 0) return {};
    return {{*vectors % group, *vectors / group * group, 1}};
  }
  std::vector<VectorGroups> last;
  for (int size = std::min(group / 2, most); size > 0; size /= 2) {
    last.push_back({size, vectors_ / group * group, vectors_ % group / size});
    group = size;
  }
  return last;
}

/// Whole vectors can be loaded along value_depth: it is a multiple of them, and the value is one load with that dim innermost. Of less than
/// half of each row at a time a copy is better: as far apart as rows of a power of two are, they share few sets of the first-level cache.
bool SoftmaxStage::values_are_in_place() const {
  if (body_.value.dims.empty()) return true;
  if (!fixed_depth_ || *fixed_depth_ % tiles_.lanes != 0 || 2 * vectors_in_group() * tiles_.lanes < *fixed_depth_) return false;
  return is_in_place_along(body_.value, body_.value_depth);
}

/// Of a value's copy: that of a vector of a group. Beyond the last element it is the last one, which nothing reads.
Expr SoftmaxStage::copied_depth() const { return min(likely((vector_group_ * vectors_in_group() + vector_) * tiles_.lanes + lane_), depth_ - 1); }

/// weight[key] * value[key, lane of the vector]: a term of the sums.
Expr SoftmaxStage::weighted_value(const SoftmaxPass& pass, const SummedPlace& at) const {
  // An unknown number of vectors is one group, or copies would have more vectors than there are.
  const Exprs vectors = {lane_, fixed_depth_ ? at.vector % vectors_in_group() : at.vector};
  const Expr of_groups = fixed_depth_ ? at.vector / vectors_in_group() : 0;
  const auto value = [&]() -> Expr {
    if (pass.values.defined()) return pass.values(joined(joined(vectors, {at.column, at.panel, of_groups, key_block_}), value_batch_));
    // Of no keys no copy is made, as the loops over keys end with the last one.
    if (copies_values()) return value_panel_(joined(joined(vectors, {place_of(pass, at.column, at.panel), of_groups}), value_batch_));
    return value_at(at.vector * tiles_.lanes + lane_, key_of(pass, at.column, at.panel));
  };
  return pass.summed_weights()(per_row({at.column, at.panel})) * value();
}

/// Whole groups of vectors first, then the vectors that are left. Keys beyond the last one are not summed: the last one's
/// value in their stead may be infinite, times a weight of 0.
void SoftmaxStage::define_partial(SoftmaxPass& pass) {
  if (bf16_) return define_bf16_partial(pass);
  const int group = vectors_in_group();
  if (!copies_values() && !values_are_in_place()) {
    pass.values = Func(pass.named("values"));
    pass.values(joined({lane_, vector_, column_, panel_, vector_group_, key_block_}, value_batch_)) = value_at(copied_depth(), key_of(pass, column_, panel_));
  }
  const int panels = tiles_.panels(pass.key_tile);
  pass.partial = Func(pass.named("partial"));
  if (has_sums_of_groups(pass)) {
    pass.whole = RDom({{0, tiles_.panel()}, {0, panels}}, "whole");
    if (pass.has_tail) pass.whole.where(exists(pass, pass.whole[0], pass.whole[1]));
    pass.group_sums = Func(pass.named("group_sums"));
    pass.group_sums(per_row({lane_, vector_})) = 0.f;
    pass.group_sums(per_row({lane_, vector_})) += weighted_value(pass, {vector_, pass.whole[0], pass.whole[1]});
    pass.partial(per_row({lane_, vector_})) = pass.group_sums(per_row({lane_, vector_}));
    return;
  }
  pass.partial(per_row({lane_, vector_})) = 0.f;
  pass.whole = RDom({{0, group}, {0, tiles_.panel()}, {0, panels}, {0, vectors_ / group}}, "whole");
  if (pass.has_tail) pass.whole.where(exists(pass, pass.whole[1], pass.whole[2]));
  const auto add = [&](const SummedPlace& at) { pass.partial(per_row({lane_, at.vector})) += weighted_value(pass, at); };
  add({pass.whole[3] * group + pass.whole[0], pass.whole[1], pass.whole[2]});
  for (const VectorGroups& last : last_vectors(group)) {
    RDom rest({{0, last.size}, {0, tiles_.panel()}, {0, panels}, {0, last.count}}, "rest_" + std::to_string(last.size));
    if (pass.has_tail) rest.where(exists(pass, rest[1], rest[2]));
    // Promised, or there would be sums of as many vectors as all groups have.
    add({within(last.first + rest[3] * last.size + rest[0], vectors_), rest[1], rest[2]});
    pass.rest.push_back(rest);
  }
}

/// Once for all vectors of the state. (As a tuple of o and l the state would hold l, and change it, once for each vector of o.)
void SoftmaxStage::define_update(const SoftmaxPass& pass) {
  const Exprs inner = {row_, row_group_}, outer = joined({query_tile_}, batch_), row = joined(joined(inner, {pass.block()}), outer);
  const auto state = [&](const Expr& vector) { return state_(joined(joined({lane_, vector}, inner), outer)); };
  const Expr vector = pass.blocks[0];
  if (!body_.has_softmax && body_.is_of_rows) {
    state(vector) = folded(body_, state(vector), pass.sum_by_lane(joined({lane_}, row)));
    return;
  }
  if (!body_.has_softmax) {
    const auto partial = [&](const Expr& of) { return pass.partial(joined({lane_, of}, row)); };
    if (keeps_total(body_))
      state(vector) += select(likely(vector < vectors_), partial(max(min(likely(vector), vectors_ - 1), 0)), pass.sum_by_lane(joined({lane_}, row)));
    else
      state(vector) += partial(vector);
    return;
  }
  const Expr total = pass.sum_by_lane(joined({lane_}, row));
  const auto partial = [&] { return pass.partial(joined({lane_, max(min(likely(vector), vectors_ - 1), 0)}, row)); };
  const Expr added = body_.is_of_rows ? total : select(likely(vector < vectors_), partial(), total), sum = state(vector) * pass.scale(row) + added;
  if (stored_rows_.maximum.is_wanted())
    state(vector) = select(likely(vector < vectors_ + 1), sum, max(state(vector), pass.maximum(row)));
  else
    state(vector) = sum;
}

}  // namespace attune
