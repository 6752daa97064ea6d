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

Result<PlacedCall> PlacedCall::on(DriverDevice& device, const std::vector<StoredArray>& arrays) {
  PlacedCall placed;
  for (const StoredArray& array : arrays) {
    Result<DeviceTensor> memory = allocate_on(device, array.storage, array.extents);
    if (!memory) return memory.error();
    if (Result<void> copied = memory->copy_from(Tensor(const_cast<std::byte*>(array.bytes.data()), array.storage, array.extents)); !copied)
      return copied.error();
    placed.tensors_.push_back(memory->view());
    placed.on_device_.push_back(std::move(*memory));
  }
  return placed;
}

Result<StoredArray> PlacedCall::fetched(std::size_t number) const {
  const Tensor& tensor = tensors_[number];
  StoredArray array(tensor.storage, {tensor.extents.begin(), tensor.extents.begin() + tensor.rank});
  if (on_device_.empty()) {
    std::ranges::copy_n(memory_[number].get(), static_cast<std::ptrdiff_t>(array.bytes.size()), array.bytes.begin());
    return array;
  }
  if (Result<void> copied = on_device_[number].copy_to(array.tensor()); !copied) return copied.error();
  return array;
}

}  // namespace attune
