/// Which bytes of an array somebody wrote.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace attune::ptx {

class WrittenBytes {
 public:
  explicit WrittenBytes(std::size_t bytes) : is_written_(bytes) {}

  std::size_t size() const { return is_written_.size(); }
  void write(std::size_t first, std::size_t bytes) {
    if (bytes > 0) std::memset(is_written_.data() + first, 1, bytes);
  }
  /// The first of so many bytes that nobody wrote; the end of them if there is none.
  std::size_t first_unwritten(std::size_t first, std::size_t bytes) const {
    const void* const found = bytes == 0 ? nullptr : std::memchr(is_written_.data() + first, 0, bytes);
    return found == nullptr ? first + bytes : static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - is_written_.data());
  }
  void forget() { std::ranges::fill(is_written_, std::uint8_t{0}); }

 private:
  std::vector<std::uint8_t> is_written_;
};

}  // namespace attune::ptx
