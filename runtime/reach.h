/// Which elements a tensor's indices reach.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/abi.h"
#include "runtime/storage.h"
#include "runtime/tensor.h"

namespace attune {

/// In elements from `data`; of an empty tensor none.
struct Reach {
  std::int64_t first = 0, last = -1;
};

/// Where the element at index 0 lies. On OpenCL, where handles stand for memory, differences of addresses in one memory are right.
inline std::uintptr_t address_of(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) + static_cast<std::uintptr_t>(tensor.byte_offset);
}

/// Whether addresses of both are in one memory.
inline bool is_same_memory(const Tensor& a, const Tensor& b) { return a.device == b.device && (a.device != attune_opencl || a.data == b.data); }

/// Of strides that are checked: no distance overflows.
inline Reach reach_of(const Tensor& tensor) {
  if (tensor.is_empty()) return {};
  Reach reach{0, 0};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor.rank); ++axis) {
    const std::int64_t distance = (tensor.extents[axis] - 1) * tensor.strides[axis];
    (distance < 0 ? reach.first : reach.last) += distance;
  }
  return reach;
}

/// The same of any strides: nothing if 63 bits do not count the bytes.
inline std::optional<Reach> checked_reach_of(const Tensor& tensor) {
  if (tensor.is_empty()) return Reach{};
  Reach reach{0, 0};
  bool is_too_far = false;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor.rank); ++axis) {
    std::int64_t distance = 0, bytes = 0;
    is_too_far = __builtin_mul_overflow(tensor.extents[axis] - 1, tensor.strides[axis], &distance) || is_too_far;
    std::int64_t& end = distance < 0 ? reach.first : reach.last;
    is_too_far = __builtin_add_overflow(end, distance, &end) || is_too_far;
    is_too_far = __builtin_mul_overflow(end, bytes_of(tensor.storage), &bytes) || is_too_far;
  }
  return is_too_far ? std::nullopt : std::optional(reach);
}

/// How many elements a tensor has that lie one behind the other, as those of most tensors do: then none is reached twice, and its strides need no
/// other check. 0 for all other tensors, for empty ones and for more than ATTUNE_MAX_ELEMENTS. The extents are checked.
inline std::int64_t dense_count(const Tensor& tensor) {
  std::int64_t count = 1;
  for (std::size_t axis = static_cast<std::size_t>(tensor.rank); axis-- > 0; count *= tensor.extents[axis])
    if ((tensor.extents[axis] != 1 && tensor.strides[axis] != count) || count > ATTUNE_MAX_ELEMENTS) return 0;
  return count <= ATTUNE_MAX_ELEMENTS ? count : 0;
}

}  // namespace attune
