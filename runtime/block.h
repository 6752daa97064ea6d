/// The form of the memory that kernels' codes take for what they store.
#pragma once

#include <cstddef>

namespace attune {

inline constexpr std::size_t block_alignment = 128;  ///< what Halide's own allocator gives
inline constexpr std::size_t block_slack = 8;        ///< Halide may read so much before and behind a block

/// The next multiple of the alignment.
constexpr std::size_t round_to_block(std::size_t bytes) { return (bytes + block_alignment - 1) / block_alignment * block_alignment; }

}  // namespace attune
