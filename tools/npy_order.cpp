#include "tools/npy_order.h"

#include <algorithm>
#include <cstring>

namespace attune {

std::vector<std::byte> in_c_order(std::span<const std::byte> data, std::span<const std::int64_t> shape, std::size_t element_bytes) {
  // Extents of 1 have no order. Without them there are few dims, however many a header names: each doubles the file at least.
  std::vector<std::size_t> extents, strides;
  std::size_t stride = element_bytes;
  for (const std::int64_t extent : shape) {
    if (extent == 1) continue;
    extents.push_back(static_cast<std::size_t>(extent));
    strides.push_back(stride);
    stride *= extents.back();
  }
  std::vector<std::byte> result(data.size());
  std::vector<std::size_t> at(extents.size(), 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < data.size(); to += element_bytes) {
    std::memcpy(result.data() + to, data.data() + from, element_bytes);
    for (std::size_t d = extents.size(); d-- > 0;) {
      from += strides[d];
      if (++at[d] < extents[d]) break;
      from -= strides[d] * extents[d];
      at[d] = 0;
    }
  }
  return result;
}

void swap_bytes(std::span<std::byte> data, std::size_t element_bytes) {
  for (std::size_t i = 0; i < data.size(); i += element_bytes) std::ranges::reverse(data.subspan(i, element_bytes));
}

}  // namespace attune
