#include "runtime/workspace.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "runtime/block.h"

namespace attune {
namespace {

class Locked {
 public:
  explicit Locked(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) flag_.wait(true, std::memory_order_relaxed);
  }
  ~Locked() {
    flag_.clear(std::memory_order_release);
    flag_.notify_one();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

/// Stands before the memory that it describes. A block keeps its size and is taken again only at that size: so a call needs,
/// whatever its threads' order, no more than the sum over sizes of how many of that size were in use at once.
struct alignas(block_alignment) Workspace::Block {
  std::size_t bytes;  ///< with this header
  Block* next_free;
  Block* next_heap;
};

bool Workspace::begin() {
  if (is_in_use_.exchange(true, std::memory_order_acquire)) return false;
  used_bytes_ = kept_bytes_ = 0;
  free_ = nullptr;
  return true;
}

void Workspace::keep() {
  kept_bytes_ = used_bytes_;
  kept_heap_ = heap_;
}

void Workspace::next_step() {
  while (heap_ != kept_heap_) ::operator delete (std::exchange(heap_, heap_->next_heap), std::align_val_t{block_alignment});
  used_bytes_ = kept_bytes_;
  free_ = nullptr;
}

void Workspace::end() {
  kept_heap_ = nullptr;
  next_step();
  is_in_use_.store(false, std::memory_order_release);
}

void* Workspace::take(std::size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  const std::size_t needed = sizeof(Block) + round_to_block(bytes + block_slack);
  const Locked locked(lock_);
  Block* block = find_free(needed);
  if (block == nullptr) block = cut(needed);
  return block == nullptr ? nullptr : block + 1;
}

void Workspace::give_back(void* data) {
  const Locked locked(lock_);
  Block* block = static_cast<Block*>(data) - 1;
  block->next_free = free_;
  free_ = block;
}

Workspace::Block* Workspace::find_free(std::size_t bytes) {
  for (Block** place = &free_; *place != nullptr; place = &(*place)->next_free)
    if ((*place)->bytes == bytes) return std::exchange(*place, (*place)->next_free);
  return nullptr;
}

/// A block that nobody has had. The peak counts the alignment of the caller's memory, so that the peak is always enough.
Workspace::Block* Workspace::cut(std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  const std::size_t skipped = round_to_block(address) - address;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_ + bytes + block_alignment);
  void* place = nullptr;
  if (is_measuring_)
    place = ::operator new (bytes, std::align_val_t{block_alignment}, std::nothrow);
  else if (skipped <= memory_.size() && bytes <= memory_.size() - skipped - std::min(used_bytes_, memory_.size() - skipped))
    place = memory_.data() + skipped + used_bytes_;
  if (place == nullptr) return nullptr;
  used_bytes_ += bytes;
  auto* block = new (place) Block{bytes, nullptr, heap_};
  if (is_measuring_) heap_ = block;
  return block;
}

}  // namespace attune
