// The states of rows: of the keys of a split, block after block, and of all splits.
#include "schedules/common/online_state.h"
#include "schedules/split_keys/split_keys_stage.h"

using Halide::Expr;
using Halide::RDom;

namespace attune {

void SplitKeysStage::define_splits() {
  const Exprs outer = joined({row_tile_, split_}, batch_), at = joined({lane_, vector_, row_, row_group_}, outer);
  blocks_ = RDom(0, tiles_.split_tile / tiles_.key_tile, "blocks");
  blocks_.where(is_visited(blocks_.x));
  // Groups beyond the last row are left out; where numbers of rows are stored beside, they repeat the last row's.
  if (tiles_.row_groups > 1 && !stored_rows_.are_wanted()) blocks_.where(row_group_ < all_row_groups_ - row_tile_ * row_groups_);
  const Exprs row = joined({row_, row_group_, blocks_.x}, outer);
  if (!body_.has_softmax) return define_sums(at, row);
  const bool keeps_greatest = stored_rows_.maximum.is_wanted();
  const auto with = [&](const OnlineState& state, const Expr& greatest) {
    return keeps_greatest ? Halide::Tuple(state.sum, state.reference, state.total, greatest) : state.tuple();
  };
  state_(at) = with(OnlineState::of_no_key(), lowest);
  const OnlineState of_block(partial_(joined({lane_, vector_}, row)), reference_(row), sum_by_lane_(joined({lane_}, row)));
  state_(at) = with(merged(OnlineState(state_(at)), of_block), keeps_greatest ? max(state_(at)[3], maximum_(row)) : Expr());
  split_state_(at) = with(OnlineState(state_(at)), keeps_greatest ? Expr(state_(at)[3]) : Expr());
}

/// Without a softmax the state is (o, l), or o where no total is kept.
void SplitKeysStage::define_sums(const Exprs& at, const Exprs& row) {
  const Expr partial = partial_(joined({lane_, vector_}, row));
  if (!keeps_total(body_)) {
    state_(at) = 0.f;
    state_(at) += partial;
    split_state_(at) = state_(at);
    return;
  }
  state_(at) = Halide::Tuple(0.f, total_of_nothing(body_));
  state_(at) = Halide::Tuple(state_(at)[0] + partial, folded(body_, state_(at)[1], sum_by_lane_(joined({lane_}, row))));
  split_state_(at) = Halide::Tuple(state_(at)[0], state_(at)[1]);
}

/// M, l and o of all splits.
void SplitKeysStage::define_merge(const Exprs& row, const Exprs& row_of_split) {
  const auto of_split = [&](const Expr& lane, const Expr& vector) { return OnlineState(split_state_(joined({lane, vector}, row_of_split))); };
  maximum_of_splits_(row) = lowest;
  maximum_of_splits_(row) = max(maximum_of_splits_(row), of_split(0, 0).reference);
  const auto scaled = [&](const OnlineState& state, const Expr& sum) { return sum * state.scale_under(maximum_of_splits_(row)); };
  total_by_lane_(joined({lane_}, row)) = 0.f;
  const OnlineState first = of_split(lane_, 0), of_vector = of_split(lane_, vector_);
  total_by_lane_(joined({lane_}, row)) += scaled(first, first.total);
  sum_(joined({lane_, vector_}, row)) = 0.f;
  sum_(joined({lane_, vector_}, row)) += scaled(of_vector, of_vector.sum);
  if (!stored_rows_.maximum.is_wanted()) return;
  greatest_(row) = lowest;
  greatest_(row) = max(greatest_(row), split_state_(joined({0, 0}, row_of_split))[3]);
}

/// l and o of all splits, without a softmax.
void SplitKeysStage::define_added(const Exprs& row, const Exprs& row_of_split) {
  const auto of_split = [&](const Expr& vector) { return split_state_(joined({lane_, vector}, row_of_split)); };
  sum_(joined({lane_, vector_}, row)) = 0.f;
  sum_(joined({lane_, vector_}, row)) += keeps_total(body_) ? Expr(of_split(vector_)[0]) : Expr(of_split(vector_));
  if (!keeps_total(body_)) return;
  total_by_lane_(joined({lane_}, row)) = total_of_nothing(body_);
  total_by_lane_(joined({lane_}, row)) = folded(body_, total_by_lane_(joined({lane_}, row)), of_split(0)[1]);
}

/// Only sums are reductions that Halide knows by their form.
void SplitKeysStage::define_total(const Exprs& row) {
  if (body_.fold == OnlineSoftmax::Fold::maximum) {
    total_(row) = folded_lanes(body_, tiles_.lanes, [&](int lane) { return Expr(total_by_lane_(joined({lane}, row))); });
    return;
  }
  total_(row) = 0.f;
  total_(row) += total_by_lane_(joined({state_lanes_.x}, row));
}

}  // namespace attune
