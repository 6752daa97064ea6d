/// Arrays as kernels take them, from and to the interpreter's doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsl/array.h"
#include "runtime/tensor.h"

namespace attune {

/// Contiguous memory with its storage type and extents.
struct StoredArray {
  attune_storage storage = attune_f32;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> bytes;

  StoredArray() = default;
  /// Zeros.
  StoredArray(attune_storage type, std::vector<std::int64_t> shape);
  std::size_t size() const;
  Tensor tensor() { return Tensor(static_cast<void*>(bytes.data()), storage, extents); }
};

/// What every byte of outputs is before a call: 9.97e17 as f32 and bf16, no small integer. What a kernel does not write is seen by it.
inline constexpr std::byte unwritten{0x5d};

/// The numbers rounded to the storage; integers saturate, a boolean is 1 where the number is not 0.
StoredArray stored(const std::vector<double>& values, std::vector<std::int64_t> extents, attune_storage storage);
/// The elements as doubles.
std::vector<double> numbers(const StoredArray& array);

}  // namespace attune
