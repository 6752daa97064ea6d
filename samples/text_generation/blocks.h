/// The elements of a GGUF file's tensors: as reals, or taken apart into scales, minima and integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/float16.h"
#include "samples/text_generation/gguf.h"

namespace text_generation {

inline constexpr std::int64_t block_elements = 32;

/// The elements from `first` on, as many as `reals` holds; both are multiples of 32 where the tensor lies in blocks.
void read_reals(const StoredTensor& tensor, std::int64_t first, std::span<float> reals);

/// A block of Q4_1 or Q8_0 as the file has it: element = scale * integer + minimum.
struct StoredBlock {
  attune::float16 scale, minimum;
  const std::uint8_t* integers;  ///< 16 pairs of 4 bits, elements 0 to 15 in the low halves; or 32 of 8 bits, each an i8
};
/// Of a tensor in blocks.
StoredBlock block_of(const StoredTensor& tensor, std::int64_t number);

}  // namespace text_generation
