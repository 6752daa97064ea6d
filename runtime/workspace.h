/// Workspace: memory of the caller's for what a kernel stores between its stages, so that a call allocates nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

namespace attune {

/// One call at a time uses it; a second one at once is refused. A call for which it is too small ends with a sentence, in the
/// middle of its work: outputs then hold anything, and the workspace serves the next call.
///
/// How much is enough: an empty Workspace takes memory from the heap and measures. At one thread peak_bytes() is exact for those
/// extents; n threads need at most n times that.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(std::span<std::byte> memory) : memory_(memory), is_measuring_(false) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// The most bytes that a call so far took or asked for.
  std::size_t peak_bytes() const { return peak_bytes_; }
  std::size_t size_bytes() const { return memory_.size(); }
  std::span<const std::byte> memory() const { return memory_; }
  /// Whether memory comes from the heap.
  bool is_measuring() const { return is_measuring_; }

  /// For calls: begin() is false if another call is using the workspace.
  bool begin();
  void end();
  /// What is taken so far is in use until end(). Each next_step() is where nothing of what was taken after it is in use: all of that is whole again.
  void keep();
  void next_step();
  /// For the kernel's threads: a block (block.h); null if too little is left.
  void* take(std::size_t bytes);
  /// Gives back what take() gave.
  void give_back(void* data);

 private:
  struct Block;
  Block* find_free(std::size_t bytes);
  Block* cut(std::size_t bytes);

  std::span<std::byte> memory_;
  bool is_measuring_ = true;
  std::atomic<bool> is_in_use_ = false;
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
  std::size_t used_bytes_ = 0, kept_bytes_ = 0, peak_bytes_ = 0;
  Block* free_ = nullptr;  ///< given back, to be taken again at the same size
  Block *heap_ = nullptr, *kept_heap_ = nullptr;  ///< all that measuring took from the heap, the last first; of it what is kept
};

}  // namespace attune
