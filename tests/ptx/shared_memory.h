/// The memory that a block of threads shares, which knows who touches it: races, reads of what nobody wrote, copies that nobody waited for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tests/ptx/fault.h"
#include "tests/ptx/groups.h"

namespace attune::ptx {

class SharedMemory {
 public:
  /// For blocks of so many threads along x, y and z, at most 1024, which read it by wgmma or do not.
  SharedMemory(std::size_t bytes, const std::array<std::uint32_t, 3>& block, bool has_products);
  /// Nobody has touched any of it: it is another block's.
  void forget();

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
  void fence_async(std::size_t thread);

  /// All threads of a warp have come to one of the warp: what each of them did is before what each does behind it.
  void pass_warp_barrier(std::size_t warp);
  /// All threads have come to a barrier.
  void pass_barrier();

 private:
  /// Who wrote to a byte last, and who read it since the last barrier, in words of 64 bits: accesses compare those of neighbours.
  struct Writer {
    std::uint64_t epoch : 20, turn : 18, fences : 14, thread : 10, is_written : 1, is_copied_to : 1;  // fences and turn of the writer before
  };
  struct Reader {
    std::uint64_t epoch : 20, turn : 18, thread : 10, has_several : 1, is_of_warps : 1, unused : 14;
  };
  static constexpr std::uint32_t most_epochs = (1U << 20) - 1, most_turns = (1U << 18) - 1, most_fences = (1U << 14) - 1, most_threads = (1U << 10) - 1;
  struct Copy {
    std::uint64_t address;
    std::size_t bytes;
  };

  void check_bounds(std::uint64_t address, std::size_t bytes, std::size_t thread) const;
  /// Calls `touch` with what is known of each of the bytes and with its address, and keeps what that changes: of bytes side by side of which the same
  /// is known once, with the first.
  template <class Touch>
  void touch_each(std::uint64_t address, std::size_t bytes, const Touch& touch);
  void mark_read(Reader& reader, std::size_t thread) const;
  void mark_written(Writer& writer, std::size_t thread) const;
  /// Whether it has passed a barrier of the warp since another thread of it was in a turn.
  bool is_past(std::uint64_t turn, std::uint64_t other, std::size_t thread) const;
  /// No other thread touched the byte in a way that a read minds; or a write, which minds readers too.
  void check_writer(Writer writer, std::uint64_t address, std::size_t thread) const;
  void check_readers(Reader reader, std::uint64_t address, std::size_t thread) const;
  Fault touched_by(std::uint64_t other, std::uint64_t address, std::size_t thread, std::string_view does) const;

  const std::array<std::uint32_t, 3> block_;
  std::vector<std::byte> bytes_;
  std::vector<Writer> writers_;               // by byte
  std::vector<Reader> readers_;               // by byte
  std::vector<std::uint16_t> async_readers_;  // by byte: warps of products that run; without any if there are no products
  std::vector<Groups<Copy>> copies_;                       // by thread
  std::vector<std::uint32_t> fences_, fences_at_barrier_;  // by thread
  std::vector<std::uint32_t> turns_;                       // by warp: barriers of its own passed since the last one of all
  std::uint32_t epoch_ = 1;                                // barriers passed, and one
};

/// Times that a bank of 4 bytes is taken beyond the first, where lanes want so many bytes each: as many lanes as ask for 128 bytes are
/// served at once, and a bank gives one word of it, to all that want this word.
std::size_t bank_conflicts(std::span<const std::uint64_t> addresses, std::size_t bytes);

}  // namespace attune::ptx
