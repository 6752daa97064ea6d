/// The accesses of a block to memory.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "tests/ptx/block_run.h"

namespace attune::ptx {
namespace {

constexpr std::size_t sector_bytes = 32, most_elements = 4;

Fault misaligned(std::uint64_t address, std::size_t bytes, std::size_t thread) {
  return {"the address " + std::to_string(address) + " is no multiple of " + std::to_string(bytes) + " bytes", thread};
}

}  // namespace

void BlockRun::find_addresses(const Operand& operand, std::int64_t offset, std::size_t bytes) {
  Lanes made;
  const Lanes& places = values(operand, made);
  addresses_.clear();
  for (const std::size_t t : lanes_) {
    addresses_.push_back(places[t % warp_size] + static_cast<std::uint64_t>(offset));
    if (addresses_.back() % bytes != 0) throw misaligned(addresses_.back(), bytes, t);
  }
}

void BlockRun::copy(const Instruction& now) {
  const auto bytes = static_cast<std::size_t>(now.bytes);
  find_addresses(now.source, now.source_offset, bytes);
  std::swap(addresses_, sources_);
  find_addresses(now.address, now.offset, bytes);
  std::size_t n = 0, loads = 0;  // those that read nothing touch no sector
  for (const std::size_t t : lanes_) {
    std::array<std::byte, 16> data{};
    const std::size_t read =
        now.operands.empty() ? bytes : std::min<std::size_t>(bytes, static_cast<std::uint32_t>(value(now.operands[0], t)));
    if (read > 0) move(Space::global, sources_[n], read, t, data.data(), true), sources_[loads++] = sources_[n];
    shared_.begin_copy(addresses_[n++], std::span(data).first(bytes), t);
  }
  count_conflicts(bytes);
  sources_.resize(loads);
  std::swap(addresses_, sources_);
  if (!addresses_.empty()) count_sectors(bytes);
}

void BlockRun::load_matrices(const Instruction& now) {
  constexpr std::size_t row_bytes = 16, rows = 8;
  check_all_lanes();
  find_addresses(now.address, now.offset, 1);  // of lanes that name no row nothing is wanted
  addresses_.resize(now.results.size() * rows);
  for (std::size_t row = 0; row < addresses_.size(); ++row)
    if (addresses_[row] % row_bytes != 0) throw misaligned(addresses_[row], row_bytes, lanes_.front() + row);
  for (std::size_t n = 0; n < now.results.size(); ++n) {
    Lanes& result = registers_.write(now.results[n], warp_, lanes_.bits());
    for (const std::size_t t : lanes_) {
      std::array<std::byte, 8> pair{};
      const std::size_t along = t % 4 * 2, across = t % warp_size / 4;
      const std::uint64_t* const places = addresses_.data() + n * rows;
      if (now.is_transposed)
        for (std::size_t half = 0; half < 2; ++half) shared_.read(places[along + half] + 2 * across, std::span(pair).subspan(2 * half, 2), t);
      else
        shared_.read(places[across] + 2 * along, std::span(pair).first(4), t);
      result[t % warp_size] = std::bit_cast<std::uint64_t>(pair);
    }
  }
  count_conflicts(row_bytes);
}

void BlockRun::access(const Instruction& now) {
  const bool is_load = now.kind == Instruction::Kind::load;
  const std::size_t bytes = static_cast<std::size_t>(now.bytes) * (is_load ? now.results.size() : now.operands.size());
  find_addresses(now.address, now.offset, bytes);
  if (is_load) load(now);
  else store(now);
  if (now.space == Space::global) count_sectors(bytes);
  if (now.space == Space::shared) count_conflicts(bytes);
}

void BlockRun::load(const Instruction& now) {
  const std::size_t count = now.results.size(), bytes = static_cast<std::size_t>(now.bytes);
  Lanes* results[most_elements];
  for (std::size_t i = 0; i < count; ++i) results[i] = &registers_.write(now.results[i], warp_, lanes_.bits());
  std::size_t n = 0;
  for (const std::size_t t : lanes_) {
    std::array<std::byte, most_elements * sizeof(std::uint64_t)> data;
    move(now.space, addresses_[n++], bytes * count, t, data.data(), true);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, data.data() + i * bytes, bytes);
      if (now.is_signed && bytes < 8 && (bits >> (8 * bytes - 1) & 1) != 0) bits |= ~std::uint64_t{0} << 8 * bytes;
      (*results[i])[t % warp_size] = bits;
    }
  }
}

void BlockRun::store(const Instruction& now) {
  const std::size_t count = now.operands.size(), bytes = static_cast<std::size_t>(now.bytes);
  Lanes made[most_elements];
  const Lanes* stored[most_elements];
  for (std::size_t i = 0; i < count; ++i) stored[i] = &values(now.operands[i], made[i]);
  std::size_t n = 0;
  for (const std::size_t t : lanes_) {
    std::array<std::byte, most_elements * sizeof(std::uint64_t)> data;
    for (std::size_t i = 0; i < count; ++i) std::memcpy(data.data() + i * bytes, &(*stored[i])[t % warp_size], bytes);
    move(now.space, addresses_[n++], bytes * count, t, data.data(), false);
  }
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
  if (is_load) {
    if (const std::size_t first = array->written.first_unwritten(offset, bytes); first < offset + bytes)
      throw Fault{"reads byte " + std::to_string(first) + " of an array of global memory, which nobody wrote", thread};
  } else {
    array->written.write(offset, bytes);
  }
  auto* const place = reinterpret_cast<std::byte*>(address);
  std::memcpy(is_load ? data : place, is_load ? place : data, bytes);
}

void BlockRun::move_local(std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load) {
  if (address + bytes > entry_.local_bytes)
    throw Fault{"touches byte " + std::to_string(address) + " of local memory, of which a thread has " + std::to_string(entry_.local_bytes),
                thread};
  const std::size_t before = thread * entry_.local_bytes, first = before + address;
  if (is_load) {
    if (const std::size_t unwritten = is_local_written_.first_unwritten(first, bytes); unwritten < first + bytes)
      throw Fault{"reads byte " + std::to_string(unwritten - before) + " of local memory, which it did not write", thread};
  } else {
    is_local_written_.write(first, bytes);
  }
  std::memcpy(is_load ? data : &local_[first], is_load ? &local_[first] : data, bytes);
}

void BlockRun::count_sectors(std::size_t bytes) {
  sectors_.clear();
  for (const std::uint64_t address : addresses_)
    for (std::uint64_t sector = address / sector_bytes; sector <= (address + bytes - 1) / sector_bytes; ++sector)
      if (sectors_.empty() || sectors_.back() != sector) sectors_.push_back(sector);
  if (!std::ranges::is_sorted(sectors_)) std::ranges::sort(sectors_);
  ++counts_.global_accesses;
  counts_.global_sectors += static_cast<std::uint64_t>(std::ranges::unique(sectors_).begin() - sectors_.begin());
}

void BlockRun::count_conflicts(std::size_t bytes) {
  ++counts_.shared_accesses;
  executed_[at_].bank_conflicts += bank_conflicts(addresses_, bytes);
}

}  // namespace attune::ptx
