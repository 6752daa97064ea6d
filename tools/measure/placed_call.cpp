#include "tools/measure/placed_call.h"

#include <algorithm>
#include <new>

namespace attune {

void PlacedCall::Free::operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{cache_line}); }

PlacedCall::PlacedCall(const std::vector<StoredArray>& arrays, std::size_t offset) {
  for (const StoredArray& array : arrays) {
    memory_.emplace_back(static_cast<std::byte*>(::operator new(array.bytes.size() + offset, std::align_val_t{cache_line})));
    std::byte* data = memory_.back().get() + offset;
    std::ranges::copy(array.bytes, data);
    tensors_.emplace_back(static_cast<void*>(data), array.storage, array.extents);
  }
}

}  // namespace attune
