#include "tests/ptx/shared_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace attune::ptx {
namespace {

constexpr std::size_t warp_threads = 32;

/// One more, of what counts in so few bits.
std::uint32_t counted(std::uint32_t count, std::uint32_t most, std::size_t thread) {
  if (count == most) throw Fault{"is executed more often than the interpreter counts", thread};
  return count + 1;
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes, const std::array<std::uint32_t, 3>& block, bool has_products)
    : block_(block),
      bytes_(bytes),
      writers_(bytes),
      readers_(bytes),
      async_readers_(has_products ? bytes : 0),
      copies_(std::size_t{block[0]} * block[1] * block[2]),
      fences_(copies_.size()),
      fences_at_barrier_(fences_),
      turns_((copies_.size() + warp_threads - 1) / warp_threads) {}

void SharedMemory::forget() {
  std::ranges::fill(writers_, Writer());
  std::ranges::fill(readers_, Reader());
  std::ranges::fill(async_readers_, std::uint16_t{0});
  std::ranges::fill(copies_, Groups<Copy>());
  std::ranges::fill(fences_, 0);
  std::ranges::fill(fences_at_barrier_, 0);
  std::ranges::fill(turns_, 0);
  epoch_ = 1;
}

void SharedMemory::fence_async(std::size_t thread) { fences_[thread] = counted(fences_[thread], most_fences, thread); }
void SharedMemory::pass_warp_barrier(std::size_t warp) { turns_[warp] = counted(turns_[warp], most_turns, warp * warp_threads); }
void SharedMemory::pass_barrier() {
  epoch_ = counted(epoch_, most_epochs, 0);
  fences_at_barrier_ = fences_;
  std::ranges::fill(turns_, 0);  // what was before the barrier is before all behind it
}

bool SharedMemory::is_past(std::uint64_t turn, std::uint64_t other, std::size_t thread) const {
  const std::size_t warp = thread / warp_threads;
  return other / warp_threads == warp && turn < turns_[warp];
}

void SharedMemory::check_bounds(std::uint64_t address, std::size_t bytes, std::size_t thread) const {
  if (address + bytes > bytes_.size())
    throw Fault{"touches byte " + std::to_string(address) + " of shared memory, of which the block has " + std::to_string(bytes_.size()),
                thread};
}

Fault SharedMemory::touched_by(std::uint64_t other, std::uint64_t address, std::size_t thread, std::string_view does) const {
  return {"touches byte " + std::to_string(address) + " of shared memory, which thread " + in_words(thread_place(other, block_)) + " " +
              std::string(does),
          thread};
}

void SharedMemory::check_writer(Writer writer, std::uint64_t address, std::size_t thread) const {
  if (writer.is_copied_to) throw touched_by(writer.thread, address, thread, "copies to, and has not waited for");
  if (writer.epoch == epoch_ && writer.thread != thread && !is_past(writer.turn, writer.thread, thread))
    throw touched_by(writer.thread, address, thread, "writes, with no barrier between");
}

void SharedMemory::check_readers(Reader reader, std::uint64_t address, std::size_t thread) const {
  const bool is_read_before = !reader.is_of_warps && is_past(reader.turn, reader.thread, thread);
  if (reader.epoch == epoch_ && (reader.has_several || reader.thread != thread) && !is_read_before)
    throw touched_by(reader.thread, address, thread, "reads, with no barrier between");
}

template <class Touch>
void SharedMemory::touch_each(std::uint64_t address, std::size_t bytes, const Touch& touch) {
  const auto of_writer = [&](std::uint64_t at) { return std::bit_cast<std::uint64_t>(writers_[at]); };
  const auto of_reader = [&](std::uint64_t at) { return std::bit_cast<std::uint64_t>(readers_[at]); };
  for (std::uint64_t at = address, next = at; at < address + bytes; at = next) {
    const std::uint64_t writer = of_writer(at), reader = of_reader(at);
    touch(writers_[at], readers_[at], at);
    for (next = at + 1; next < address + bytes && of_writer(next) == writer && of_reader(next) == reader; ++next) {
      if (of_writer(at) != writer) writers_[next] = writers_[at];
      if (of_reader(at) != reader) readers_[next] = readers_[at];
    }
  }
}

void SharedMemory::read(std::uint64_t address, std::span<std::byte> to, std::size_t thread) {
  check_bounds(address, to.size(), thread);
  touch_each(address, to.size(), [&](const Writer& writer, Reader& reader, std::uint64_t at) {
    check_writer(writer, at, thread);
    if (!writer.is_written) throw Fault{"reads byte " + std::to_string(at) + " of shared memory, which nobody wrote", thread};
    mark_read(reader, thread);
  });
  std::memcpy(to.data(), bytes_.data() + address, to.size());
}

void SharedMemory::mark_read(Reader& reader, std::size_t thread) const {
  const Reader before = reader;
  const bool is_again = before.epoch == epoch_;
  reader = {.epoch = epoch_ & most_epochs,
            .turn = turns_[thread / warp_threads] & most_turns,
            .thread = thread & most_threads,
            .has_several = is_again && (before.has_several || before.thread != thread),
            .is_of_warps = is_again && (before.is_of_warps || before.thread / warp_threads != thread / warp_threads),
            .unused = 0};
}

void SharedMemory::mark_written(Writer& writer, std::size_t thread) const {
  writer.epoch = epoch_ & most_epochs;
  writer.turn = turns_[thread / warp_threads] & most_turns;
  writer.fences = fences_[thread] & most_fences;
}

void SharedMemory::write(std::uint64_t address, std::span<const std::byte> from, std::size_t thread) {
  check_bounds(address, from.size(), thread);
  for (std::size_t i = 0; i < from.size() && !async_readers_.empty(); ++i)
    if (async_readers_[address + i] > 0)
      throw Fault{"touches byte " + std::to_string(address + i) +
                      " of shared memory, which a product of matrices reads that not all its warps have waited for",
                  thread};
  touch_each(address, from.size(), [&](Writer& writer, const Reader& reader, std::uint64_t at) {
    check_writer(writer, at, thread);
    check_readers(reader, at, thread);
    mark_written(writer, thread);
    writer.thread = thread & most_threads;
    writer.is_written = true;
  });
  std::memcpy(bytes_.data() + address, from.data(), from.size());
}

void SharedMemory::begin_copy(std::uint64_t address, std::span<const std::byte> from, std::size_t thread) {
  write(address, from, thread);
  for (std::size_t i = 0; i < from.size(); ++i) writers_[address + i].is_copied_to = true;
  copies_[thread].begin({address, from.size()});
}

void SharedMemory::end_group(std::size_t thread) { copies_[thread].end(); }

void SharedMemory::wait(std::size_t thread, std::size_t pending) {
  copies_[thread].wait(pending, [&](const Copy& copy) {
    touch_each(copy.address, copy.bytes, [&](Writer& writer, const Reader&, std::uint64_t) {
      writer.is_copied_to = false;
      mark_written(writer, thread);  // others read it behind the next barrier
    });
  });
}

void SharedMemory::read_async(std::uint64_t address, std::span<std::byte> to, std::size_t thread) {
  check_bounds(address, to.size(), thread);
  touch_each(address, to.size(), [&](const Writer& writer, const Reader&, std::uint64_t at) {
    const auto fault = [&](std::string_view what) {
      return Fault{"reads byte " + std::to_string(at) + " of shared memory, which thread " + in_words(thread_place(writer.thread, block_)) + " " +
                       std::string(what),
                   thread};
    };
    if (!writer.is_written) throw Fault{"reads byte " + std::to_string(at) + " of shared memory, which nobody wrote", thread};
    if (writer.is_copied_to) throw fault("copies to, and has not waited for");
    if (writer.epoch == epoch_) throw fault("writes, with no barrier between");
    if (fences_at_barrier_[writer.thread] == writer.fences) throw fault("writes, with no fence.proxy.async between this and the barrier");
  });
  std::memcpy(to.data(), bytes_.data() + address, to.size());
}

void SharedMemory::begin_async_read(std::uint64_t address, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) ++async_readers_[address + i];
}

void SharedMemory::end_async_read(std::uint64_t address, std::size_t bytes, std::size_t thread) {
  for (std::size_t i = 0; i < bytes; ++i) --async_readers_[address + i];
  touch_each(address, bytes, [&](const Writer&, Reader& reader, std::uint64_t) { mark_read(reader, thread); });
}

std::size_t bank_conflicts(std::span<const std::uint64_t> addresses, std::size_t bytes) {
  constexpr std::size_t bank_bytes = 4, bank_count = 32, lanes = 32;
  const std::size_t at_once = std::max<std::size_t>(1, std::min(lanes, bank_count * bank_bytes / bytes));
  std::size_t conflicts = 0;
  std::array<std::array<std::uint64_t, lanes>, bank_count> wanted;  // by bank, each word once
  for (std::size_t first = 0; first < addresses.size(); first += at_once) {
    std::array<std::size_t, bank_count> of_bank{};
    for (std::size_t n = first; n < std::min(first + at_once, addresses.size()); ++n)
      for (std::uint64_t word = addresses[n] / bank_bytes; word <= (addresses[n] + bytes - 1) / bank_bytes; ++word) {
        auto& words = wanted[word % bank_count];
        std::size_t& count = of_bank[word % bank_count];
        if (std::find(words.begin(), words.begin() + count, word) == words.begin() + count) words[count++] = word;
      }
    conflicts += std::max<std::size_t>(1, std::ranges::max(of_bank)) - 1;
  }
  return conflicts;
}

}  // namespace attune::ptx
