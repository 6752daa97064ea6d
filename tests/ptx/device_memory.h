/// The arrays of a device, for the interpreter of PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "tests/ptx/written_bytes.h"

namespace attune::ptx {

/// Arrays whose bytes know whether they were written.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  struct Array {
    std::unique_ptr<std::byte[]> bytes;
    WrittenBytes written;
  };

  /// The address of so many bytes, none of them written.
  std::uint64_t allocate(std::size_t bytes);
  /// False if no array begins there.
  bool free(std::uint64_t address);
  /// Copies of the host; false if no array holds all of these bytes, or of read(), if nobody wrote one of them.
  bool write(std::uint64_t address, const void* from, std::size_t bytes);
  bool read(std::uint64_t address, void* to, std::size_t bytes);
  /// The array that holds all of these bytes, and where they begin in it; nullptr if none does.
  Array* find(std::uint64_t address, std::size_t bytes, std::size_t& offset);

 private:
  std::map<std::uint64_t, Array> arrays_;                              // by address
  std::map<std::uint64_t, Array>::iterator last_found_ = arrays_.end();  // most accesses go where the one before went
};

}  // namespace attune::ptx
