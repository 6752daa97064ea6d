#include "tests/ptx/shared_memory.h"

#include <algorithm>
#include <string>

#include "tests/ptx/fault.h"

namespace attune::ptx {
namespace {
constexpr std::size_t warp_threads = 32;
}

SharedMemory::SharedMemory(std::size_t bytes, const std::array<std::uint32_t, 3>& block)
    : block_(block),
      bytes_(bytes),
      copies_(std::size_t{block[0]} * block[1] * block[2]),
      fences_(copies_.size()),
      fences_at_barrier_(fences_),
      turns_((copies_.size() + warp_threads - 1) / warp_threads) {}

bool SharedMemory::is_past(std::uint32_t turn, std::uint32_t other, std::size_t thread) const {
  const std::size_t warp = thread / warp_threads;
  return other / warp_threads == warp && turn < turns_[warp];
}

void SharedMemory::check_bounds(std::uint64_t address, std::size_t bytes, std::size_t thread) const {
  if (address + bytes > bytes_.size())
    throw Fault{"touches byte " + std::to_string(address) + " of shared memory, of which the block has " + std::to_string(bytes_.size()),
                thread};
}

void SharedMemory::check_order(const Byte& byte, std::uint64_t address, std::size_t thread, bool is_write) const {
  const auto fault = [&](std::uint32_t other, std::string_view does) {
    throw Fault{"touches byte " + std::to_string(address) + " of shared memory, which thread " + in_words(thread_place(other, block_)) +
                    " " + std::string(does),
                thread};
  };
  const auto self = static_cast<std::uint32_t>(thread);
  if (byte.is_copied_to) fault(byte.writer, "copies to, and has not waited for");
  if (is_write && byte.async_readers > 0)
    throw Fault{"touches byte " + std::to_string(address) +
                    " of shared memory, which a product of matrices reads that not all its warps have waited for",
                thread};
  if (byte.write_epoch == epoch_ && byte.writer != self && !is_past(byte.write_turn, byte.writer, thread)) fault(byte.writer, "writes, with no barrier between");
  const bool is_read_before = !byte.is_read_by_warps && is_past(byte.read_turn, byte.reader, thread);
  if (is_write && byte.read_epoch == epoch_ && (byte.has_several_readers || byte.reader != self) && !is_read_before)
    fault(byte.reader, "reads, with no barrier between");
}

void SharedMemory::read(std::uint64_t address, std::span<std::byte> to, std::size_t thread) {
  check_bounds(address, to.size(), thread);
  for (std::size_t i = 0; i < to.size(); ++i) {
    Byte& byte = bytes_[address + i];
    check_order(byte, address + i, thread, false);
    if (!byte.is_written) throw Fault{"reads byte " + std::to_string(address + i) + " of shared memory, which nobody wrote", thread};
    mark_read(byte, thread);
    to[i] = byte.value;
  }
}

void SharedMemory::mark_read(Byte& byte, std::size_t thread) const {
  const auto self = static_cast<std::uint32_t>(thread);
  byte.is_read_by_warps = byte.read_epoch == epoch_ && (byte.is_read_by_warps || byte.reader / warp_threads != self / warp_threads);
  byte.has_several_readers = byte.read_epoch == epoch_ && (byte.has_several_readers || byte.reader != self);
  byte.read_epoch = epoch_;
  byte.reader = self;
  byte.read_turn = turns_[thread / warp_threads];
}

void SharedMemory::mark_written(Byte& byte, std::size_t thread) const {
  byte.write_epoch = epoch_;
  byte.write_turn = turns_[thread / warp_threads];
  byte.write_fences = fences_[thread];
}

void SharedMemory::write(std::uint64_t address, std::span<const std::byte> from, std::size_t thread) {
  check_bounds(address, from.size(), thread);
  for (std::size_t i = 0; i < from.size(); ++i) {
    Byte& byte = bytes_[address + i];
    check_order(byte, address + i, thread, true);
    mark_written(byte, thread);
    byte.writer = static_cast<std::uint32_t>(thread);
    byte.is_written = true;
    byte.value = from[i];
  }
}

void SharedMemory::begin_copy(std::uint64_t address, std::span<const std::byte> from, std::size_t thread) {
  write(address, from, thread);
  for (std::size_t i = 0; i < from.size(); ++i) bytes_[address + i].is_copied_to = true;
  copies_[thread].begin({address, from.size()});
}

void SharedMemory::end_group(std::size_t thread) { copies_[thread].end(); }

void SharedMemory::wait(std::size_t thread, std::size_t pending) {
  copies_[thread].wait(pending, [&](const Copy& copy) {
    for (std::size_t i = 0; i < copy.bytes; ++i) {
      Byte& byte = bytes_[copy.address + i];
      byte.is_copied_to = false;
      mark_written(byte, thread);  // others read it behind the next barrier
    }
  });
}

void SharedMemory::read_async(std::uint64_t address, std::span<std::byte> to, std::size_t thread) {
  check_bounds(address, to.size(), thread);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Byte& byte = bytes_[address + i];
    const auto fault = [&](std::string_view what) {
      throw Fault{"reads byte " + std::to_string(address + i) + " of shared memory, which thread " +
                      in_words(thread_place(byte.writer, block_)) + " " + std::string(what),
                  thread};
    };
    if (!byte.is_written) throw Fault{"reads byte " + std::to_string(address + i) + " of shared memory, which nobody wrote", thread};
    if (byte.is_copied_to) fault("copies to, and has not waited for");
    if (byte.write_epoch == epoch_) fault("writes, with no barrier between");
    if (fences_at_barrier_[byte.writer] == byte.write_fences) fault("writes, with no fence.proxy.async between this and the barrier");
    to[i] = byte.value;
  }
}

void SharedMemory::begin_async_read(std::uint64_t address, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) ++bytes_[address + i].async_readers;
}

void SharedMemory::end_async_read(std::uint64_t address, std::size_t bytes, std::size_t thread) {
  for (std::size_t i = 0; i < bytes; ++i) {
    --bytes_[address + i].async_readers;
    mark_read(bytes_[address + i], thread);
  }
}

std::size_t bank_conflicts(std::span<const std::uint64_t> addresses, std::size_t bytes) {
  constexpr std::size_t bank_bytes = 4, bank_count = 32, lanes = 32;
  const std::size_t at_once = std::max<std::size_t>(1, std::min(lanes, bank_count * bank_bytes / bytes));
  std::size_t conflicts = 0;
  std::vector<std::uint64_t> words;
  for (std::size_t first = 0; first < addresses.size(); first += at_once) {
    words.clear();
    for (std::size_t n = first; n < std::min(first + at_once, addresses.size()); ++n)
      for (std::uint64_t word = addresses[n] / bank_bytes; word <= (addresses[n] + bytes - 1) / bank_bytes; ++word) words.push_back(word);
    std::ranges::sort(words);
    std::array<std::size_t, bank_count> of_bank{};
    for (std::size_t n = 0; n < words.size(); ++n)
      if (n == 0 || words[n] != words[n - 1]) ++of_bank[words[n] % bank_count];
    conflicts += std::max<std::size_t>(1, std::ranges::max(of_bank)) - 1;
  }
  return conflicts;
}

}  // namespace attune::ptx
