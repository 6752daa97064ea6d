/// Array: a tensor of doubles with named dims, for the interpreter.
#pragma once

#include <cstdint>
#include <map>
#include <new>
#include <span>
#include <vector>

#include "dsl/type.h"

namespace attune {

/// The extent of every dim of a graph.
using DimExtents = std::map<Name, std::int64_t, std::less<>>;

/// Whether there are no elements. A loop of its own: <algorithm> and <functional> would be a quarter of what a compiler reads for a variant.
inline bool has_zero(std::span<const std::int64_t> extents) {
  for (const std::int64_t extent : extents)
    if (extent == 0) return true;
  return false;
}

/// Row-major: the last dim is the innermost. Integers and booleans are exact in a double up to 2^53.
struct Array {
  Type type;
  std::vector<std::int64_t> extents;
  std::vector<double> data;

  Array() = default;
  /// Zeros of the type; every dim of it has an extent.
  Array(const Type& t, const DimExtents& all) : type(t) {
    for (Name dim : t.dims) extents.push_back(all.at(dim));
    data.assign(element_count(), 0.0);
  }

  /// The product of the extents; throws std::bad_alloc where no memory holds so many.
  std::size_t element_count() const {
    if (has_zero(extents)) return 0;
    std::size_t count = 1;
    for (const std::int64_t extent : extents)
      if (__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count) || count > data.max_size()) throw std::bad_alloc();
    return count;
  }

  /// Elements between neighbours along the dim; 0 where the array does not have it, so that it broadcasts.
  std::int64_t stride(Name dim) const {
    const int position = type.dims.position(dim);
    if (position < 0) return 0;
    std::int64_t stride = 1;
    for (std::size_t i = extents.size() - 1; i > static_cast<std::size_t>(position); --i) stride *= extents[i];
    return stride;
  }
};

/// A box of indices, and for each of some arrays the offset of the element at the current index.
class Walk {
 public:
  Walk(std::vector<Name> dims, const DimExtents& extents, std::vector<const Array*> arrays) : offsets_(arrays.size(), 0) {
    for (Name dim : dims) {
      extents_.push_back(extents.at(dim));
      for (const Array* array : arrays) strides_.push_back(array->stride(dim));
    }
  }
  Walk(const Names& dims, const DimExtents& extents, std::vector<const Array*> arrays)
      : Walk(std::vector<Name>(dims.begin(), dims.end()), extents, std::move(arrays)) {}

  /// Calls visit(offsets) for every index, the last dim fastest. A box without indices takes no time, whatever its other extents are.
  template <class Visit>
  void run(Visit visit) {
    if (!has_zero(extents_)) descend(0, visit);
  }

 private:
  template <class Visit>
  void descend(std::size_t level, Visit& visit) {
    if (level == extents_.size()) {
      visit(std::span<const std::size_t>(offsets_));
      return;
    }
    const std::int64_t* strides = strides_.data() + level * offsets_.size();
    for (std::int64_t i = 0; i < extents_[level]; ++i) {
      descend(level + 1, visit);
      for (std::size_t a = 0; a < offsets_.size(); ++a) offsets_[a] += static_cast<std::size_t>(strides[a]);
    }
    for (std::size_t a = 0; a < offsets_.size(); ++a)
      offsets_[a] -= static_cast<std::size_t>(strides[a] * extents_[level]);
  }

  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> strides_;  // of each array, dim by dim
  std::vector<std::size_t> offsets_;
};

}  // namespace attune
