#include "tests/ptx/device_memory.h"

#include <algorithm>
#include <cstring>

namespace attune::ptx {

std::uint64_t DeviceMemory::allocate(std::size_t bytes) {
  Array array{std::make_unique<std::byte[]>(std::max<std::size_t>(bytes, 1) + 256), WrittenBytes(bytes)};
  // As cuMemAlloc says: at a multiple of 256.
  const auto raw = reinterpret_cast<std::uint64_t>(array.bytes.get()), address = (raw + 255) / 256 * 256;
  arrays_.emplace(address, std::move(array));
  return address;
}

bool DeviceMemory::free(std::uint64_t address) {
  last_found_ = arrays_.end();
  return arrays_.erase(address) > 0;
}

bool DeviceMemory::write(std::uint64_t address, const void* from, std::size_t bytes) {
  std::size_t offset = 0;
  Array* array = find(address, bytes, offset);
  if (array == nullptr) return false;
  std::memcpy(reinterpret_cast<void*>(address), from, bytes);
  array->written.write(offset, bytes);
  return true;
}

bool DeviceMemory::read(std::uint64_t address, void* to, std::size_t bytes) {
  std::size_t offset = 0;
  const Array* const array = find(address, bytes, offset);
  if (array == nullptr || array->written.first_unwritten(offset, bytes) < offset + bytes) return false;
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return true;
}

DeviceMemory::Array* DeviceMemory::find(std::uint64_t address, std::size_t bytes, std::size_t& offset) {
  const auto holds = [&](const auto& place) {
    return place != arrays_.end() && address >= place->first && address - place->first + bytes <= place->second.written.size();
  };
  if (!holds(last_found_)) {
    const auto next = arrays_.upper_bound(address);
    if (next == arrays_.begin() || !holds(std::prev(next))) return nullptr;
    last_found_ = std::prev(next);
  }
  offset = address - last_found_->first;
  return &last_found_->second;
}

}  // namespace attune::ptx
