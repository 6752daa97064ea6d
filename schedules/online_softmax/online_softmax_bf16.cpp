#include <algorithm>

#include "codegen/halide/numbers/bf16.h"
#include "schedules/common/bf16_operand.h"
#include "schedules/common/tiles.h"
#include "schedules/online_softmax/online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

namespace attune {
namespace {

Expr pairs_in(const Expr& extent) { return tiles_of(extent, 2); }

Expr substituted(const Expr& e, const std::string& name, const Expr& replacement) {
  return Halide::Internal::substitute(name, replacement, e);
}

}  // namespace

/// The contracted dim must be one, for pairs lie along it.
std::optional<Bf16Operands> SoftmaxStage::bf16_operands() const {
  if (!tiles_.has_bf16_dot || body_.combine || body_.score || body_.over.size() != 1 || !body_.query || !body_.key) return {};
  const Coordinates at = panel_coordinates();
  Coordinates value_at = at;
  value_at[body_.value_depth] = max(min(likely(vector_ * tiles_.lanes + lane_), depth_ - 1), 0);  // it may be a contracted dim of the scores, too
  const auto query = bf16_operand(body_.query, at, body_.products), key = bf16_operand(body_.key, at, body_.products);
  if (!query || !key) return {};
  const Expr factor = query->factor * key->factor * (is_base_2(body_) ? log2_e : 1.f), of_sum = factor_of_sum(factor, extents_.at(body_.over[0]));
  if (body_.is_of_rows) return Bf16Operands{query->bits, key->bits, {}, of_sum};
  const auto value = bf16_operand(body_.value, value_at, body_.products);
  if (!value || !is_const_one(value->factor)) return {};
  return Bf16Operands{query->bits, key->bits, value->bits, of_sum};
}

/// A dim whose extent is no multiple of what one instruction sums is filled with zeros, and so are values of keys beyond the last one: their weight is 0, and 0 times infinity is NaN.
void SoftmaxStage::define_bf16_panels() {
  const std::string& over = body_.over[0];
  const Expr extent = extents_.at(over), index = Var(over) * 2 + pair_;
  const auto panel = [&](const Expr& bits) {
    const Expr element = substituted(bits, over, max(min(likely(index), extent - 1), 0));
    return fixed_value(extent % pair_padding()) == 0 ? element : select(index < extent, element, Halide::cast<std::uint16_t>(0));
  };
  query_pairs_(joined({pair_, Var(over), row_, row_group_, query_tile_}, batch_)) = panel(bf16_->query);
  key_pairs_(joined({pair_, column_, Var(over), panel_}, key_batch_)) = panel(bf16_->key);
  if (body_.is_of_rows) return;
  const Expr column = column_ * 2 + pair_;  // here of pairs of columns
  const Expr value = substituted(bf16_->value, column_.name(), column), key = panel_ * tiles_.panel() + column;
  value_pairs_(joined({pair_, lane_, vector_, column_, panel_}, value_batch_)) = select(key < keys_, value, Halide::cast<std::uint16_t>(0));
}

/// The sums of products, not scaled.
Expr SoftmaxStage::bf16_product(SoftmaxPass& pass) {
  if (tiles_.in_matrix_tiles) return matrix_product(pass);
  pass.over = RDom({{0, 2}, {0, pairs_in(extents_.at(body_.over[0]))}}, pass.named("over"));
  const Expr panel = key_block_ * tiles_.panels(pass.key_tile) + panel_;
  const Expr query = query_pairs_(joined({pass.over[0], pass.over[1], row_, row_group_, query_tile_}, batch_));
  const Expr key = key_pairs_(joined({pass.over[0], column_, pass.over[1], panel}, key_batch_));
  pass.product = Func(pass.named("product"));
  pass.product(per_row({column_, panel_})) = 0.f;
  pass.product(per_row({column_, panel_})) += number_of_bits(query) * number_of_bits(key);
  return pass.product(per_row({column_, panel_})) * bf16_->factor;
}

bool SoftmaxStage::rounds_weights() const { return bf16_ && !body_.is_of_rows; }

Expr SoftmaxStage::stored_weight(const Expr& weight) const { return rounds_weights() ? bf16_bits_of_weight(weight) : weight; }

Expr SoftmaxStage::loaded_weight(const Expr& stored) const { return rounds_weights() ? bf16_value(stored) : stored; }

/// Whole groups of vectors first, then the vectors that are left.
void SoftmaxStage::define_bf16_partial(SoftmaxPass& pass) {
  if (tiles_.in_matrix_tiles) return define_matrix_partial(pass);
  const Func weights = pass.summed_weights();
  const int panels = tiles_.panels(pass.key_tile), column_pairs = tiles_.panel() / 2;
  const auto add = [&](const Expr& pair, const Expr& vector, const Expr& column_pair, const Expr& panel) {
    const Expr weight = number_of_bits(weights(per_row({column_pair * 2 + pair, panel})));
    const Expr value = number_of_bits(value_pairs_(joined({pair, lane_, vector, column_pair, key_block_ * panels + panel}, value_batch_)));
    pass.partial(per_row({lane_, vector})) += weight * value;
  };
  const int group = vectors_in_group();
  pass.partial = Func(pass.named("partial"));
  pass.partial(per_row({lane_, vector_})) = 0.f;
  pass.whole = RDom({{0, 2}, {0, group}, {0, column_pairs}, {0, panels}, {0, vectors_ / group}}, pass.named("whole"));
  add(pass.whole[0], pass.whole[4] * group + pass.whole[1], pass.whole[2], pass.whole[3]);
  for (const VectorGroups& last : last_vectors(1)) {  // by more, sums would go over vectors that there may not be
    const RDom rest({{0, 2}, {0, last.size}, {0, column_pairs}, {0, panels}, {0, last.count}}, pass.named("rest"));
    add(rest[0], last.first + rest[4] * last.size + rest[1], rest[2], rest[3]);
    pass.rest.push_back(rest);
  }
}

void SoftmaxStage::schedule_bf16_panels() {
  per_tile(query_pairs_).bound_extent(pair_, 2).unroll(pair_).vectorize(Var(body_.over[0]), tiles_.lanes, TailStrategy::GuardWithIf);
  key_pairs_.bound_extent(column_, tiles_.panel());
  key_pairs_.vectorize(column_, tiles_.lanes);
  if (value_pairs_.defined()) value_pairs_.bound_extent(lane_, tiles_.lanes).bound_extent(column_, tiles_.panel() / 2).vectorize(lane_);
  for (const auto& [panel, batch] : {std::pair{&key_pairs_, &key_batch_}, std::pair{&value_pairs_, &value_batch_}}) {
    if (!panel->defined()) continue;
    panel->bound_extent(pair_, 2).unroll(pair_);
    per_batch_index(*panel, *batch);
  }
}

/// As the product of f32; a register holds the sums of both elements of its pairs.
void SoftmaxStage::schedule_bf16_product(SoftmaxPass& pass) {
  if (tiles_.in_matrix_tiles) return schedule_matrix_product(pass);
  const Var vector_of_keys("vector_of_keys-"), lane_of_keys("lane_of_keys-");
  Func& product = pass.product;
  product.compute_at(pass.scores, row_group_).bound_extent(column_, tiles_.panel()).bound_extent(row_, tiles_.rows);
  product.split(column_, vector_of_keys, lane_of_keys, tiles_.lanes, TailStrategy::RoundUp);
  product.vectorize(lane_of_keys).unroll(vector_of_keys).unroll(row_);
  product.update().split(column_, vector_of_keys, lane_of_keys, tiles_.lanes, TailStrategy::RoundUp);
  product.update().reorder(pass.over[0], lane_of_keys, vector_of_keys, row_, pass.over[1]);
  product.update().atomic().vectorize(pass.over[0]).vectorize(lane_of_keys).unroll(vector_of_keys).unroll(row_);
}

void SoftmaxStage::schedule_bf16_partial(SoftmaxPass& pass) {
  if (tiles_.in_matrix_tiles) return schedule_matrix_partial(pass);
  Func& partial = per_row_group(pass.partial, pass);
  partial.bound_extent(lane_, tiles_.lanes).vectorize(lane_);
  // Distances between a tile's sums must be constants, or LLVM keeps them in memory: an unknown extent goes outermost.
  if (!fixed_depth_) partial.reorder_storage({lane_, row_, row_group_, vector_});
  const auto in_registers = [&](Halide::Stage sums, const RDom& keys) {
    // One loop over the pairs of all panels: with a short one of its own over panels, Halide does not find the instruction.
    const Halide::RVar pairs("pairs-");
    sums.fuse(keys[2], keys[3], pairs).reorder({keys[0], lane_, keys[1], row_, pairs, row_group_, keys[4]});
    sums.atomic().vectorize(keys[0]).vectorize(lane_).unroll(keys[1]).unroll(row_);
  };
  in_registers(partial.update(0), pass.whole);
  for (std::size_t n = 0; n < pass.rest.size(); ++n) in_registers(partial.update(static_cast<int>(n) + 1), pass.rest[n]);
}

}  // namespace attune
