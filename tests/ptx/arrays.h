/// Where arrays of shared or of local memory stand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune::ptx {

struct Array {
  std::string name;
  std::size_t bytes = 0;  ///< 0: what a launch adds
  std::size_t alignment = 1;
};
/// ".shared .align 16 .b8 name[64];", or without a number; nothing if it is no array of bytes.
std::optional<Array> read_array(std::string_view text);

class Arrays {
 public:
  /// One array behind the other. What a launch adds stands behind all that have a size.
  void declare(const Array& array) {
    if (array.bytes == 0)
      added_.push_back(array);
    else
      bytes_ = (places_[array.name] = aligned(array.alignment)) + array.bytes;
    for (const Array& added : added_) places_[added.name] = aligned(added.alignment);
  }
  std::optional<std::size_t> place(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Up to where a launch adds.
  std::size_t bytes() const {
    std::size_t alignment = 1;
    for (const Array& added : added_) alignment = std::max(alignment, added.alignment);
    return aligned(alignment);
  }

 private:
  std::size_t aligned(std::size_t alignment) const { return (bytes_ + alignment - 1) / alignment * alignment; }

  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<Array> added_;
  std::size_t bytes_ = 0;
};

}  // namespace attune::ptx
