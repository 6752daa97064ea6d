/// NearMemory: memory for the small tiles of a call inside its own context, so that a short call takes nothing from the heap.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/block.h"

namespace attune {

/// Blocks are cut off one behind the other; when none is in use, it is whole again. Any number of threads may take and give back.
class NearMemory {
 public:
  NearMemory() {}  // not `= default`, which would clear the memory in value-initialisation
  NearMemory(const NearMemory&) = delete;
  NearMemory& operator=(const NearMemory&) = delete;

  /// A block (block.h); null if too little is left.
  void* take(std::size_t bytes) {
    if (bytes > capacity) return nullptr;
    const std::size_t needed = round_to_block(bytes + block_slack);
    std::uint64_t state = state_.load(std::memory_order_acquire);
    do {
      if (used_of(state) + needed > capacity) return nullptr;
    } while (!state_.compare_exchange_weak(state, state + (needed << count_bits) + 1, std::memory_order_acq_rel, std::memory_order_acquire));
    return memory_.data() + block_alignment + used_of(state);
  }

  bool holds(const void* data) const { return memory_.data() <= data && data < memory_.data() + memory_.size(); }

  /// What take() gave. Orders what was done in it before what its next owner does.
  void give_back() {
    std::uint64_t state = state_.load(std::memory_order_relaxed), next;
    do {
      next = (state & count_mask) == 1 ? 0 : state - 1;
    } while (!state_.compare_exchange_weak(state, next, std::memory_order_acq_rel, std::memory_order_relaxed));
  }

 private:
  // 64 keys of depth 64 and the scores of a few queries fit; a call's stack does not notice it.
  static constexpr std::size_t capacity = 24 * 1024;
  static constexpr int count_bits = 32;
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
  static std::size_t used_of(std::uint64_t state) { return static_cast<std::size_t>(state >> count_bits); }

  std::atomic<std::uint64_t> state_ = 0;  ///< bytes in use and before those, and below them how many blocks are in use
  alignas(block_alignment) std::array<std::byte, block_alignment + capacity> memory_;
};

}  // namespace attune
