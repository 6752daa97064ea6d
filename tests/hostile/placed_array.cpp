#include "tests/hostile/placed_array.h"

#include <algorithm>
#include <cstring>

#include "runtime/words.h"

namespace attune {
namespace {

using Reach = PlacedArray::Reach;

std::array<std::int64_t, max_rank> strides_of(const std::vector<std::int64_t>& extents, Layout layout) {
  std::array<std::int64_t, max_rank> strides{};
  const std::size_t rank = extents.size();
  if (rank == 0) return strides;
  const std::int64_t gap = layout == Layout::padded || layout == Layout::reversed ? 3 : layout == Layout::transposed ? 1 : 0;
  std::int64_t span = 1;
  for (std::size_t i = 0; i < rank; ++i) {  // from the smallest stride on
    const std::size_t axis = layout == Layout::transposed && i > 0 ? i - 1 : rank - 1 - i;
    strides[axis] = span;
    span = span * std::max<std::int64_t>(extents[axis], 1) + gap;
    if (layout == Layout::reversed && i > 0) strides[axis] = -strides[axis];
  }
  if (layout == Layout::broadcast && rank > 1) strides[0] = 0;
  return strides;
}

/// Calls visit(offset) with the offset in elements of each index, the innermost dim fastest.
template <class Visit>
void for_each_offset(const std::vector<std::int64_t>& extents, const std::array<std::int64_t, max_rank>& strides, const Visit& visit,
                     std::size_t axis = 0, std::int64_t offset = 0) {
  if (axis == extents.size()) return visit(offset);
  for (std::int64_t i = 0; i < extents[axis]; ++i) for_each_offset(extents, strides, visit, axis + 1, offset + i * strides[axis]);
}

/// Of an empty array nothing.
Reach reach_of(const std::vector<std::int64_t>& extents, const std::array<std::int64_t, max_rank>& strides) {
  if (std::ranges::find(extents, 0) != extents.end()) return {};
  std::int64_t first = 0, last = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) (strides[axis] < 0 ? first : last) += strides[axis] * (extents[axis] - 1);
  return {first, last - first + 1};
}

}  // namespace

std::string name_of(Layout layout) {
  constexpr std::array names = {"contiguous", "padded", "reversed", "transposed", "broadcast"};
  return names[static_cast<std::size_t>(layout)];
}

std::string name_of(Flush flush) { return flush == Flush::first ? "first element at a guard page" : "last element at a guard page"; }

PlacedArray::PlacedArray(const std::string& name, const StoredArray& array, Layout layout, Flush flush, std::byte fill)
    : name_(name),
      fill_(fill),
      form_(array.storage, array.extents),
      strides_(strides_of(array.extents, layout)),
      reach_(reach_of(array.extents, strides_)),
      memory_(name, static_cast<std::size_t>(reach_.count * bytes_of(array.storage)), flush) {
  std::ranges::fill(memory_.room(), fill);
  const std::int64_t bytes = bytes_of(array.storage);
  std::byte* origin = memory_.data() - reach_.first * bytes;
  tensor_ = Tensor(static_cast<void*>(origin), array.storage, form_.extents,
                   std::span<const std::int64_t>(strides_.data(), form_.extents.size()));
  const std::byte* from = array.bytes.data();
  for_each_offset(form_.extents, strides_, [&](std::int64_t offset) {
    std::memcpy(origin + offset * bytes, from, static_cast<std::size_t>(bytes));
    from += bytes;
  });
}

StoredArray PlacedArray::elements() const {
  StoredArray array(form_.storage, form_.extents);
  const std::int64_t bytes = bytes_of(form_.storage);
  std::byte* to = array.bytes.data();
  for_each_offset(form_.extents, strides_, [&](std::int64_t offset) {
    std::memcpy(to, static_cast<const std::byte*>(tensor_.data) + offset * bytes, static_cast<std::size_t>(bytes));
    to += bytes;
  });
  return array;
}

std::string PlacedArray::gap_problem() {
  const std::int64_t bytes = bytes_of(form_.storage);
  for_each_offset(form_.extents, strides_,
                  [&](std::int64_t offset) { std::fill_n(static_cast<std::byte*>(tensor_.data) + offset * bytes, bytes, fill_); });
  for (const std::byte& byte : memory_.room())
    if (byte != fill_)
      return words("writes byte ", &byte - memory_.data(), " of ", name_, ", which is of no element; it has ", memory_.bytes(), " bytes");
  return {};
}

}  // namespace attune
