/// One kernel of warpgroup_attention.h while it is built.
#pragma once

#include <functional>
#include <vector>

#include "codegen/tensor_cores/attention_builder.h"
#include "codegen/tensor_cores/warpgroup.h"
#include "codegen/tensor_cores/warpgroup_attention.h"

namespace attune::tensor_cores {

/// With blocks of keys counted as they are visited: at the top of round i the values of block i and the keys of block i + 1 arrive, and
/// those of the blocks behind them are on their way, up to the keys of block i + stages - 1.
class WarpgroupAttention : public AttentionBuilder {
 public:
  WarpgroupAttention(const KernelFunction& function, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                     const WarpgroupAttentionTiles& tiles)
      : AttentionBuilder(function, plan, step, stage, tiles, /*is_aligned=*/true),
        stages_(tiles.stages),
        has_query_registers_(tiles.has_query_registers),
        has_turns_(tiles.has_turns),
        is_late_(has_turns_ && stages_ > 2),
        ahead_(is_late_ ? stages_ - 2 : stages_ - 1) {}

  void run();

 private:
  static constexpr int warps = 4;  // of a warpgroup

  // --- shared memory: queries, then keys, then values of all stages ---

  static int panel_bytes(int rows, int columns) { return panels_of(columns) * rows * Panels::row_bytes; }
  mlir::Value key_place(mlir::Value slot) const;
  mlir::Value value_place(mlir::Value slot) const;
  mlir::Value behind_slot(mlir::Value slot, int by) const;

  void load_panels(mlir::Value place, int height, const Operand& operand, const OperandRows& rows, std::int64_t columns) const;
  void copy_keys(const NextBlock& block, mlir::Value slot) const;
  void copy_values(const NextBlock& block, mlir::Value slot) const;
  /// What threads copied is there for products, but for the last `pending` ends; and products of the round before are done.
  void arrive(int pending) const;

  // --- products ---

  /// The warpgroup's queries as first operands, for all of the walk.
  void load_query_words();
  /// Begins those of the warpgroup's queries and the keys in a slot.
  WarpgroupSums begin_scores(mlir::Value slot) const;
  /// Begins the sums of weights times the values in a slot. Both are to be waited for.
  void begin_values(mlir::Value slot, Values& weights, Values& state) const;
  /// Behind the wait the sums are there, and the registers of weights are free.
  void end_values(const Values& weights, Values& state) const;
  std::ptrdiff_t sums_at() const { return static_cast<std::ptrdiff_t>(sum_at(0, 0, 0)); }

  // --- the walk ---

  /// What a round hands to the next.
  struct Round {
    mlir::Value slot;               // of the block whose values come next
    std::vector<NextBlock> blocks;  // those ahead, whose keys are on their way; with scores, the block of these before them
    Values weights, shrinks;        // of that block, and by how much they make the sums shrink; or
    Values scores;                  // its products with the queries
    Values state;
  };
  static Values packed_round(const Round& round);
  /// Of the same sizes as another.
  static Round unpacked_round(const Values& all, Round like);
  /// Rounds while the block at a place of `blocks` is there.
  Round in_rounds(const Round& first, std::size_t place, Round (WarpgroupAttention::*visit)(Round));

  Values walk(const NextBlock& first);
  /// Products, and weights while they go on.
  Values walk_before(Round round, const NextBlock& first, const Values& scores);
  Round visit_before(Round round);
  /// Weights, and then products, which go on while other warpgroups make their weights.
  Values walk_behind(Round round, const NextBlock& first, const Values& scores);
  Round visit_behind(Round round);
  Values add_last_values(Round& round, bool is_to_arrive = true);

  /// The weights of a block; the state and the shrinks of `round` become those behind it.
  std::vector<Sums> weigh_block(const WarpgroupSums& products, const NextBlock& block, Round& round);
  /// As first operands.
  Values packed_weights(const std::vector<Sums>& weights) const;
  void shrink_sums(Round& round) const;
  /// ptxas moves a wait up to the branch before it, in front of all that does not need it: here is one, behind the weights, that is never
  /// taken.
  void keep_before_wait(const Round& round) const;

  /// Copies of the block that a round finds, and the values of the block before it.
  void copy(const Round& round, const NextBlock& found) const;
  void step(Round& round, const NextBlock& found) const;

  Values start() const;

  const int stages_;
  const bool has_query_registers_, has_turns_;
  /// Products of warpgroups that are behind go on beyond a barrier, so that what they read stays for a round more, and copies begin one
  /// later.
  const bool is_late_;
  const int ahead_;  // blocks whose keys are on their way when a round begins
  mlir::Value warpgroup_;
  std::vector<FirstOperand> query_words_;  // [16 columns]
};

}  // namespace attune::tensor_cores
