/// Sweeps: steps that a call on the CPU repeats for one block after the other, so that what they store for one another fits into a cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/abi.h"
#include "runtime/codes.h"
#include "runtime/tensor.h"

namespace attune {

/// Sets the extents of the blocks of each sweep, which are those of whole dims before. Of the last dim, the rows, a block has so many that what is stored for
/// one position of the other dims takes `swept_bytes`; of these so many that each thread has as much. Rows do not depend on the number of threads, for
/// results may not, and which code a step takes may depend on rows. Blocks stay whole where a step of the target has no code for them. Where a mask shows a band
/// of columns to a block, which is the narrower the fewer rows there are, it has as few as may be.
void choose_blocks(const attune_kernel_v5& kernel, const UsableTarget& target, std::span<std::int64_t> extents);

/// Bytes of what the steps of a sweep store for one another, all of it together: a part of the last cache.
inline constexpr std::int64_t swept_bytes = std::int64_t{4} << 20U;

/// The blocks of one sweep, one after the other: all positions of each dim, in as many blocks as its extent and that of its largest block say, which
/// differ by one position at most.
class BlockSweep {
 public:
  /// `extents` of the kernel's dims, those of blocks the largest; they live as long as this.
  BlockSweep(const attune_kernel_v5& kernel, const attune_sweep_v1& sweep, std::span<std::int64_t> extents);

  /// Sets extents and starts of the next block; false where there is none. An empty dim has one block, which is empty. The first block of rows has all
  /// columns of a band, so that sums over rows begin at each of them.
  bool next();

 private:
  struct Loop {
    std::int32_t block, start;
    std::int64_t whole, count, at;
  };
  void set(const Loop& loop) const;
  void set_band() const;

  std::span<std::int64_t> extents_;
  std::array<Loop, max_rank> loops_;
  std::size_t size_ = 0;
  const attune_dim_v1 *band_ = nullptr, *band_start_ = nullptr;  // of the columns that the block of rows sees
  std::int32_t columns_ = -1, first_column_ = -1;                // their numbers
  bool has_begun_ = false;
};

}  // namespace attune
