/// The memory that a block of threads shares, which knows who touches it: races, reads of what nobody wrote, copies that nobody waited for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/ptx/groups.h"

namespace attune::ptx {

class SharedMemory {
 public:
  /// For a block of so many threads along x, y and z.
  SharedMemory(std::size_t bytes, const std::array<std::uint32_t, 3>& block);

  /// Bytes from or to a place. Throws Fault: beyond the end, never written, still being copied to, or touched by another thread since the
  /// last barrier where one of the two writes.
  void read(std::uint64_t address, std::span<std::byte> to, std::size_t thread);
  void write(std::uint64_t address, std::span<const std::byte> from, std::size_t thread);

  /// cp.async: the bytes may be read behind a wait of this thread, and by others behind a barrier after that.
  void begin_copy(std::uint64_t address, std::span<const std::byte> from, std::size_t thread);
  /// cp.async.commit_group: what the thread began since the last one is a group.
  void end_group(std::size_t thread);
  /// cp.async.wait_group: all but the thread's last `pending` groups are there.
  void wait(std::size_t thread, std::size_t pending);

  /// Bytes of a factor of wgmma, which other hardware reads than that of threads. Throws Fault, too, where a thread wrote one since the
  /// last barrier, or has no fence_async between what it wrote and the last barrier.
  void read_async(std::uint64_t address, std::span<std::byte> to, std::size_t thread);
  /// A warp's part of the reading, until the warp has waited for it.
  void begin_async_read(std::uint64_t address, std::size_t bytes);
  void end_async_read(std::uint64_t address, std::size_t bytes, std::size_t thread);
  /// fence.proxy.async: what the thread wrote may be read by wgmma behind a barrier.
  void fence_async(std::size_t thread) { ++fences_[thread]; }

  /// All threads of a warp have come to one of the warp: what each of them did is before what each does behind it.
  void pass_warp_barrier(std::size_t warp) { ++turns_[warp]; }
  /// All threads have come to a barrier.
  void pass_barrier() { ++epoch_, fences_at_barrier_ = fences_; }

 private:
  /// Who touched a byte since the last barrier.
  struct Byte {
    std::byte value{};
    bool is_written = false, is_copied_to = false, has_several_readers = false, is_read_by_warps = false;
    std::uint32_t write_epoch = 0, read_epoch = 0;  // 0: never
    std::uint32_t writer = 0, reader = 0;
    std::uint32_t write_turn = 0, read_turn = 0;  // of the writer's warp, and of the reader's
    std::uint32_t write_fences = 0;   // of the writer before
    std::uint32_t async_readers = 0;  // warps of products that run
  };
  struct Copy {
    std::uint64_t address;
    std::size_t bytes;
  };

  void check_bounds(std::uint64_t address, std::size_t bytes, std::size_t thread) const;
  void mark_read(Byte& byte, std::size_t thread) const;
  void mark_written(Byte& byte, std::size_t thread) const;
  /// Whether it has passed a barrier of the warp since another thread of it was in a turn.
  bool is_past(std::uint32_t turn, std::uint32_t other, std::size_t thread) const;
  /// No other thread touched the byte in a way that a read or a write minds.
  void check_order(const Byte& byte, std::uint64_t address, std::size_t thread, bool is_write) const;

  const std::array<std::uint32_t, 3> block_;
  std::vector<Byte> bytes_;
  std::vector<Groups<Copy>> copies_;                       // by thread
  std::vector<std::uint32_t> fences_, fences_at_barrier_;  // by thread
  std::vector<std::uint32_t> turns_;                       // by warp: barriers of its own passed
  std::uint32_t epoch_ = 1;                                // barriers passed, and one
};

/// Times that a bank of 4 bytes is taken beyond the first, where lanes want so many bytes each: as many lanes as ask for 128 bytes are
/// served at once, and a bank gives one word of it, to all that want this word.
std::size_t bank_conflicts(std::span<const std::uint64_t> addresses, std::size_t bytes);

}  // namespace attune::ptx
