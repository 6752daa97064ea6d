/// The accesses of a block to memory.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "tests/ptx/block_run.h"

namespace attune::ptx {
namespace {

constexpr std::size_t sector_bytes = 32;

Fault misaligned(std::uint64_t address, std::size_t bytes, std::size_t thread) {
  return {"the address " + std::to_string(address) + " is no multiple of " + std::to_string(bytes) + " bytes", thread};
}

}  // namespace

std::uint64_t BlockRun::address_of(const Instruction& now, std::size_t bytes, std::size_t thread) const {
  const std::uint64_t address = value(now.address, thread) + static_cast<std::uint64_t>(now.offset);
  if (address % bytes != 0) throw misaligned(address, bytes, thread);
  return address;
}

void BlockRun::copy(const Instruction& now) {
  const auto bytes = static_cast<std::size_t>(now.bytes);
  std::vector<std::uint64_t> sources;
  addresses_.clear();
  for (const std::size_t t : lanes_) {
    std::array<std::byte, 16> data{};
    const std::size_t read =
        now.operands.empty() ? bytes : std::min<std::size_t>(bytes, static_cast<std::uint32_t>(value(now.operands[0], t)));
    const std::uint64_t from = value(now.source, t) + static_cast<std::uint64_t>(now.source_offset);
    addresses_.push_back(address_of(now, bytes, t));
    if (from % bytes != 0) throw misaligned(from, bytes, t);
    if (read > 0) move(Space::global, from, read, t, data.data(), true), sources.push_back(from);
    shared_.begin_copy(addresses_.back(), std::span(data).first(bytes), t);
  }
  count_conflicts(bytes);
  std::swap(addresses_, sources);
  if (!addresses_.empty()) count_sectors(bytes);
}

void BlockRun::load_matrices(const Instruction& now) {
  constexpr std::size_t row_bytes = 16, rows = 8;
  check_all_lanes();
  const std::size_t first = lanes_[0] / warp_size * warp_size;
  addresses_.clear();
  for (std::size_t row = 0; row < now.results.size() * rows; ++row) addresses_.push_back(address_of(now, row_bytes, first + row));
  for (const std::size_t t : lanes_)
    for (std::size_t n = 0; n < now.results.size(); ++n) {
      std::array<std::byte, 8> pair{};
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t along = t % 4 * 2 + half, across = t % warp_size / 4;
        const std::size_t row = now.is_transposed ? along : across, column = now.is_transposed ? across : along;
        shared_.read(addresses_[n * rows + row] + 2 * column, std::span(pair).subspan(2 * half, 2), t);
      }
      registers_.write(now.results[n], warp_, lane_bits_)[t % warp_size] = std::bit_cast<std::uint64_t>(pair);
    }
  count_conflicts(row_bytes);
}

void BlockRun::access(const Instruction& now) {
  const bool is_load = now.kind == Instruction::Kind::load;
  const std::size_t count = is_load ? now.results.size() : now.operands.size(), bytes = static_cast<std::size_t>(now.bytes);
  addresses_.clear();
  for (const std::size_t t : lanes_) {
    const std::uint64_t address = address_of(now, bytes * count, t);
    addresses_.push_back(address);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_load) {
        std::uint64_t bits = 0;
        move(now.space, address + i * bytes, bytes, t, reinterpret_cast<std::byte*>(&bits), true);
        if (now.is_signed && bytes < 8 && (bits >> (8 * bytes - 1) & 1) != 0) bits |= ~std::uint64_t{0} << 8 * bytes;
        registers_.write(now.results[i], warp_, 1U << t % warp_size)[t % warp_size] = bits;
      } else {
        std::uint64_t bits = value(now.operands[i], t);
        move(now.space, address + i * bytes, bytes, t, reinterpret_cast<std::byte*>(&bits), false);
      }
    }
  }
  if (now.space == Space::global) count_sectors(bytes * count);
  if (now.space == Space::shared) count_conflicts(bytes * count);
}

void BlockRun::move(Space space, std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load) {
  switch (space) {
    case Space::param:
      if (!is_load || address + bytes > launch_.parameters.size()) throw Fault{"touches no parameter", thread};
      std::memcpy(data, launch_.parameters.data() + address, bytes);
      return;
    case Space::global:
      return move_global(address, bytes, thread, data, is_load);
    case Space::shared:
      if (is_load)
        shared_.read(address, {data, bytes}, thread);
      else
        shared_.write(address, {data, bytes}, thread);
      return;
    case Space::local:
      return move_local(address, bytes, thread, data, is_load);
  }
}

void BlockRun::move_global(std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load) {
  std::size_t offset = 0;
  DeviceMemory::Array* array = memory_.find(address, bytes, offset);
  if (array == nullptr) throw Fault{"touches " + std::to_string(bytes) + " bytes of global memory that no array holds", thread};
  for (std::size_t i = 0; i < bytes; ++i) {
    if (is_load && !array->is_written[offset + i])
      throw Fault{"reads byte " + std::to_string(offset + i) + " of an array of global memory, which nobody wrote", thread};
    if (!is_load) array->is_written[offset + i] = true;
  }
  auto* const place = reinterpret_cast<std::byte*>(address);
  std::memcpy(is_load ? data : place, is_load ? place : data, bytes);
}

void BlockRun::move_local(std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load) {
  if (address + bytes > entry_.local_bytes)
    throw Fault{"touches byte " + std::to_string(address) + " of local memory, of which a thread has " + std::to_string(entry_.local_bytes),
                thread};
  const std::size_t first = thread * entry_.local_bytes + address;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (is_load && !is_local_written_[first + i])
      throw Fault{"reads byte " + std::to_string(address + i) + " of local memory, which it did not write", thread};
    if (is_load)
      data[i] = local_[first + i];
    else
      local_[first + i] = data[i], is_local_written_[first + i] = true;
  }
}

void BlockRun::count_sectors(std::size_t bytes) {
  sectors_.clear();
  for (const std::uint64_t address : addresses_)
    for (std::uint64_t sector = address / sector_bytes; sector <= (address + bytes - 1) / sector_bytes; ++sector)
      if (sectors_.empty() || sectors_.back() != sector) sectors_.push_back(sector);
  std::ranges::sort(sectors_);
  ++counts_.global_accesses;
  counts_.global_sectors += static_cast<std::uint64_t>(std::ranges::unique(sectors_).begin() - sectors_.begin());
}

void BlockRun::count_conflicts(std::size_t bytes) {
  ++counts_.shared_accesses;
  executed_[at_].bank_conflicts += bank_conflicts(addresses_, bytes);
}

}  // namespace attune::ptx
