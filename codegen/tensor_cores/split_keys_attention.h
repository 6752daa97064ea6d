/// The kernels of split_keys_kernel.h while they are built.
#pragma once

#include <vector>

#include "codegen/tensor_cores/split_keys_kernel.h"
#include "codegen/tensor_cores/warp_products.h"

namespace attune::tensor_cores {

/// A warp's copies are numbered 0, 1, 2 ...: the keys of its first block, its values, the keys of the next. Copy n goes to slot n % stages of its
/// part of shared memory; when it is wanted, those up to n + stages - 2 are on their way.
class SplitKeysAttention : public WarpProducts {
 public:
  SplitKeysAttention(const KernelFunction& function, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                     const SplitKeysTiles& tiles, bool is_aligned);

  /// The kernel of a split.
  void run();
  /// The kernel that merges the states of all splits.
  void merge();

 private:
  // --- where the threads are ---

  /// Of a block among the batches, so many splits, and rows.
  void find_split(mlir::Value splits);

  // --- shared memory: [slot][warp][row] ---

  SharedTile slot_tile(mlir::Value slot, int columns) const;
  SharedTile queries_tile() const;
  mlir::Value behind_slot(mlir::Value slot, int by) const;

  // --- the walk over the warp's blocks of keys ---

  /// What a round hands to the next: the slot of its keys, and its block with those that are copied meanwhile.
  struct Round {
    mlir::Value slot;
    std::vector<NextBlock> blocks;
    Values state;
  };
  static Values packed_round(const Round& round);
  static Round unpacked_round(const Values& all, Round like);
  NextBlock block_behind(mlir::Value block);

  /// The copy so many behind that of the round's keys.
  void copy(const Round& round, int number) const;
  /// The oldest copy is there for the warp, which is done with the one before it.
  void arrive() const;
  Values walk();
  Round visit(Round round);

  // --- states ---

  Values start() const;
  /// Of two parts of the keys as one.
  Values joined(const Values& a, const Values& b) const;
  /// Of all warps, for the first one.
  void merge_warps(Values& state) const;
  /// Where in memory of states the lane has number `at` of the one with that number.
  mlir::Value place_of_state(mlir::Value states, mlir::Value number, std::size_t at) const;
  mlir::Value shared_state(mlir::Value slot, std::size_t at) const;

  /// The numbers of a state that are of a row of the thread: the greatest score, the total and the sums.
  std::vector<std::size_t> places_of(int m, int half) const;
  mlir::Value stored_state(mlir::Value split, std::size_t at) const;
  void store_state(const Values& state) const;
  Values load_state(mlir::Value split) const;

  const SplitKeysTiles& split_tiles_;
  const mlir::Value states_, splits_;  // arguments
  mlir::Value split_, step_;           // the block's split; from a block of keys of the warp to its next
  mlir::Value first_state_, row_blocks_;  // the number of the state of the rows' first split, and from there to the next
};

}  // namespace attune::tensor_cores
