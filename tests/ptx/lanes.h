/// The lanes of a warp: their values, and which of them do something.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace attune::ptx {

/// An operand or a result of all lanes.
inline constexpr std::size_t warp_size = 32;
using Lanes = std::array<std::uint64_t, warp_size>;
/// Those of some lanes, which are named by bits, in place of what stood there.
inline void put(const Lanes& values, std::uint32_t lanes, Lanes& result) {
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    if (lanes == ~0U || (lanes >> lane & 1) != 0) result[lane] = values[lane];
}

/// Some lanes, as the numbers of their threads in the block: `for (const std::size_t t : lanes)`, the least first.
class LaneSet {
 public:
  class Iterator {
   public:
    Iterator(std::size_t first, std::uint32_t bits) : first_(first), bits_(bits) {}
    std::size_t operator*() const { return first_ + static_cast<std::size_t>(std::countr_zero(bits_)); }
    Iterator& operator++() {
      bits_ &= bits_ - 1;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    std::size_t first_;
    std::uint32_t bits_;  // of the lanes that are still to come
  };

  LaneSet() = default;
  /// Of the warp whose first thread it is.
  LaneSet(std::size_t first, std::uint32_t bits) : first_(first), bits_(bits) {}

  Iterator begin() const { return {first_, bits_}; }
  Iterator end() const { return {first_, 0}; }
  bool empty() const { return bits_ == 0; }
  bool is_whole_warp() const { return bits_ == ~0U; }
  std::size_t first_of_warp() const { return first_; }
  /// The least of them.
  std::size_t front() const { return *begin(); }
  std::uint32_t bits() const { return bits_; }

 private:
  std::size_t first_ = 0;
  std::uint32_t bits_ = 0;
};

}  // namespace attune::ptx
