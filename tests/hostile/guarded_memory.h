/// GuardedMemory: memory between pages that nobody may touch, and the sentence about who touched them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace attune {

/// Which end of the memory touches a page that nobody may touch. The other end has one too, less than a page away.
enum class Flush { first, last };

class GuardedMemory {
 public:
  /// `bytes` bytes, zero at first. `name` is what a sentence calls them: "input 'q'". With an alignment (a power of two, at most a page)
  /// the first byte is a multiple of it, at least `slack` bytes off either end. Throws std::bad_alloc if the machine has no memory.
  GuardedMemory(const std::string& name, std::size_t bytes, Flush flush, std::size_t alignment = 1, std::size_t slack = 0);
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory& operator=(GuardedMemory&&) = delete;
  ~GuardedMemory();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// All that may be touched, in whole pages: data() with what stands before and behind it.
  std::span<std::byte> room() const { return {room_, room_bytes_}; }
  /// From now on a write is a fault too.
  void make_read_only() const;

 private:
  std::byte* room_;
  std::size_t room_bytes_;
  std::byte* data_;
  std::size_t bytes_;
};

/// What the process is about to do, for the sentence about a fault: "kernel 'causal', queries=5".
void say_before_faults(const std::string& what);

/// From now on a fault (SIGSEGV, SIGBUS) in any thread writes one sentence to the file descriptor and ends the process with status 1.
/// The sentence says what the process was doing, and of which guarded memory which byte was read or written.
void report_faults(int descriptor);

}  // namespace attune
