/// Where the elements of a factor of wgmma stand in shared memory (PTX ISA 8.0, "Asynchronous Warpgroup Level Matrix Shared Memory
/// Layout").
#pragma once

#include <cstddef>
#include <cstdint>

namespace attune::ptx {

/// The address of each 16 bytes of a factor, which hold neighbours along k, or of a transposed one, neighbours along its rows (of A) or
/// columns (of B). Places are given in these 16 bytes along the dim that they run along, and in elements along the other.
class MatrixDescriptor {
 public:
  explicit MatrixDescriptor(std::uint64_t bits)
      : bits_(bits),
        start_((bits & 0x3fff) << 4),
        leading_((bits >> 16 & 0x3fff) << 4),
        stride_((bits >> 32 & 0x3fff) << 4),
        swizzle_(bits >> 62) {}

  /// Null, or what is wrong with it. A base offset other than 0 belongs to arrays that are not aligned to their swizzle's period.
  const char* problem() const {
    if ((bits_ & reserved) != 0) return "has a descriptor with bits that mean nothing";
    return (bits_ >> 49 & 7) != 0 ? "has a descriptor with a base offset, which is not interpreted" : nullptr;
  }

  /// Eight rows of 16 bytes a period of swizzling, side by side within it; `stride_` from eight rows to the next.
  std::uint64_t along_k(std::size_t row, std::size_t chunk) const {
    return swizzled(start_ + row % 8 * period_bytes() + row / 8 * stride_ + chunk * (swizzle_ == 0 ? leading_ : 16));
  }
  /// Eight k of a period, which runs along the rows. Without swizzling, `stride_` and `leading_` change their dims.
  std::uint64_t along_rows(std::size_t chunk, std::size_t k) const {
    const std::size_t chunks = period_bytes() / 16;
    const std::uint64_t over_rows = chunk / chunks * (swizzle_ == 0 ? stride_ : leading_),
                        over_k = k / 8 * (swizzle_ == 0 ? leading_ : stride_);
    return swizzled(start_ + chunk % chunks * 16 + k % 8 * period_bytes() + over_rows + over_k);
  }

 private:
  static constexpr std::uint64_t reserved = 0x3ff1c000c000c000;

  /// 16 bytes without swizzling, or 128, 64 and 32 for 1, 2 and 3.
  std::size_t period_bytes() const { return swizzle_ == 0 ? 16 : std::size_t{256} >> swizzle_; }
  /// Bits from 4 on change with those from 7 on: three, two or one.
  std::uint64_t swizzled(std::uint64_t address) const { return address ^ (address >> 3 & (period_bytes() - 16)); }

  std::uint64_t bits_, start_, leading_, stride_, swizzle_;
};

}  // namespace attune::ptx
