/// PlacedArray: an array's elements in guarded memory, in one of several layouts.
#pragma once

#include <array>
#include <string>

#include "runtime/tensor.h"
#include "tests/hostile/guarded_memory.h"
#include "tools/measure/stored_array.h"

namespace attune {

/// How the dims outside the innermost one, whose stride is 1, lie in memory.
enum class Layout {
  contiguous,
  padded,      ///< three elements between rows, and between all that is outside of them: odd strides
  reversed,    ///< the same with negative strides
  transposed,  ///< the outermost dim has the smallest stride, one element is between rows
  broadcast    ///< the outermost dim has stride 0: its elements are all the first
};
inline constexpr std::array every_order = {Layout::contiguous, Layout::padded, Layout::reversed, Layout::transposed};

std::string name_of(Layout layout);
std::string name_of(Flush flush);

/// All other bytes around and between the elements hold `fill`.
class PlacedArray {
 public:
  /// The range of offsets of its elements, counted in elements from that at index 0.
  struct Reach {
    std::int64_t first = 0, count = 0;
  };

  PlacedArray(const std::string& name, const StoredArray& array, Layout layout, Flush flush, std::byte fill);

  const Tensor& tensor() const { return tensor_; }
  void make_read_only() const { memory_.make_read_only(); }
  /// The elements as they are now.
  StoredArray elements() const;
  /// Which byte around or between the elements is changed, in words; empty if none is. Overwrites the elements with `fill`.
  std::string gap_problem();

 private:
  std::string name_;
  std::byte fill_;
  StoredArray form_;  ///< for its storage and extents
  std::array<std::int64_t, max_rank> strides_{};
  Reach reach_;
  GuardedMemory memory_;
  Tensor tensor_;
};

}  // namespace attune
