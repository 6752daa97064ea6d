/// What the steps of a kernel store for one another, and where it lies: in one block of memory that a call takes for all of it.
#pragma once

#include <HalideRuntime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/abi.h"
#include "runtime/result.h"
#include "runtime/signature.h"

namespace attune {

/// The steps that write a stored tensor and read it last; its memory is others' before and after. What a sweep reads or writes of a whole one keeps its
/// memory through all of the sweep.
struct Lifetime {
  std::int32_t first = 0, last = 0;
};

/// Of each stored tensor of a sound manifest.
std::vector<Lifetime> lifetimes_of(const attune_kernel_v5& kernel);

/// Offsets in the block, and how long it is. The memory of each tensor has the form of a block itself (block.h).
struct StoredPlaces {
  std::array<std::int64_t, max_stored> begin;
  std::int64_t bytes;
};

/// The places for these extents of the kernel's dims. Tensors share memory only where their lifetimes do not meet; the largest are placed
/// first, each where it begins earliest. Refuses a tensor of more elements than a kernel can count.
Result<void> place_stored(const attune_kernel_v5& kernel, std::span<const Lifetime> lifetimes, std::span<const std::int64_t> extents,
                          StoredPlaces& places);

/// The stored tensors of one call as Halide describes them, in the block: first their descriptions, then their elements.
class StoredBuffers {
 public:
  StoredBuffers() = default;

  /// The bytes of the block for these places; 0 if nothing is stored.
  static std::size_t block_bytes(const attune_kernel_v5& kernel, const StoredPlaces& places);

  /// Describes them in a block (block.h) of that many bytes. All are dense.
  StoredBuffers(const attune_kernel_v5& kernel, std::span<const std::int64_t> extents, const StoredPlaces& places, std::byte* block);

  /// Describes a tensor anew, where a dim of it has another extent than before, at most that of its place.
  void describe(const attune_kernel_v5& kernel, std::size_t number, std::span<const std::int64_t> extents);

  /// Of stored tensor `number`.
  halide_buffer_t& operator[](std::size_t number) const { return buffers_[number]; }

 private:
  halide_buffer_t* buffers_ = nullptr;
};

}  // namespace attune
