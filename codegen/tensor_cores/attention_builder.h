/// What kernels of attention have in common while they are built, whoever multiplies: places, masks, weights, results.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <numbers>
#include <optional>

#include "codegen/tensor_cores/attention_places.h"

namespace attune::tensor_cores {

using Values = Code::Values;
/// Of a warp's queries and the keys of a block: [16 queries][8 keys].
using Scores = std::vector<std::vector<Sums>>;

class AttentionBuilder : public AttentionPlaces {
 public:
  AttentionBuilder(const KernelFunction& function, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                   const AttentionTiles& tiles, bool is_aligned)
      : AttentionPlaces(function, plan, step, stage, tiles, is_aligned),
        graph_(
            step.graph, function.builder, [this](std::string_view label, const Coordinates& at) { return arguments_.load(label, at); },
            arguments_.extents(), [this](std::string_view label, const Block& block) { return range_of(label, block); }) {}

 protected:
  // --- masks ---

  /// What is known of a block of keys: whether all of it is visible to all of the block's queries, and whether anything is.
  Interval<Emitted> visibility(mlir::Value block);
  /// Of an integer or a truth value in memory that depends on one of the block's two sides: the warp's lanes look at all of them. Those of the
  /// queries are looked at once, before the walk.
  std::optional<Interval<Emitted>> range_of(std::string_view label, const Block& block);

  /// The first block from one on in which something may be visible, or the number of blocks; and whether all of it is.
  struct NextBlock {
    mlir::Value number, is_visible;
  };
  NextBlock next_block(mlir::Value from) { return next_block(from, code_.number(1)); }
  /// The same of each `step`th block.
  NextBlock next_block(mlir::Value from, mlir::Value step);

  // --- the walk over blocks of keys ---

  /// State of a thread: of each of its rows the greatest score so far and the sum of its own weights; then the sums of weighted values.
  std::size_t state_size() const { return static_cast<std::size_t>(m_) * (4 + static_cast<std::size_t>(value_columns_ / column_block) * 4); }

  /// Visits the scores with their coordinates, in which places that are not there are those of the last one.
  void at_each(Scores& scores, mlir::Value first_key,
               const std::function<mlir::Value(mlir::Value score, mlir::Value key, const Coordinates& at)>& changed);

  /// What stands for the product in the graph, of its sum.
  Emitted product_of(mlir::Value sum) { return {&builder_, code_.multiply(sum, code_.real(factor())), {}}; }
  double factor() const { return stage_.query.factor * stage_.key.factor; }
  /// Powers of 2 are taken of scores times `base`: their factor is in it, and without a change the product's, unless that turns the greatest into the
  /// least.
  bool has_factor_in_base() const { return stage_.score == stage_.product && factor() > 0; }
  double base() const { return std::numbers::log2e * stage_.score_factor * (has_factor_in_base() ? factor() : 1); }

  void change(Scores& scores, mlir::Value first_key);
  /// Scores that pass through a tanh: without special functions where no argument of the warp's is far from 0, as of most that a soft cap bounds.
  void change_through_cap(Scores& scores, mlir::Value first_key);
  /// Puts -inf where nothing is to be seen, in blocks that are not visible whole.
  void hide(Scores& scores, const NextBlock& block);

  std::size_t greatest_at(int m, int half) const { return static_cast<std::size_t>(2 * m + half); }
  std::size_t total_at(int m, int half) const { return static_cast<std::size_t>(2 * (m_ + m) + half); }
  std::size_t sum_at(int m, std::size_t block, std::size_t element) const {
    return static_cast<std::size_t>(4 * m_) + (static_cast<std::size_t>(m) * static_cast<std::size_t>(value_columns_ / column_block) + block) * 4 +
           element;
  }
  mlir::Value over_quad(mlir::Value x, const auto& join) const {
    for (const int by : {1, 2}) x = join(x, code_.exchanged(x, by));
    return x;
  }
  /// 0 in place of -inf, for the greatest score of a row in which nothing is visible: then all powers are 0.
  mlir::Value reference(mlir::Value greatest) const;

  /// Scores of 16 queries become weights relative to the greatest score so far, as the totals do; gives by how much what is summed already shrinks,
  /// of each half of the queries.
  std::array<mlir::Value, 2> weigh(std::vector<Sums>& scores, int m, mlir::Value first_key, Values& state);
  void shrink(Values& state, int m, const std::array<mlir::Value, 2>& by) const;
  /// The weights of 16 queries and 16 keys from one on, as a first operand.
  std::array<mlir::Value, 4> first_operand(const std::vector<Sums>& weights, int key) const;

  // --- results ---

  void store(const Values& state);
  void store_row(int m, int half, const Coordinates& row, mlir::Value inverse, const Values& state);

  /// ln sum_j exp(score_j), from the greatest score m and the sum of exp(score_j - m).
  void store_log_sum_exp(const Coordinates& row, mlir::Value greatest, mlir::Value total, mlir::Value is_none);

  const EmittedGraph graph_;
  mlir::Value first_key_;  // of the block whose visibility is asked for
  std::map<std::string, Interval<Emitted>, std::less<>> query_ranges_;  // of inputs by label
};

}  // namespace attune::tensor_cores
