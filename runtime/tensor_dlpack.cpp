#include "runtime/tensor_dlpack.h"

#include <algorithm>
#include <array>
#include <new>

#include "runtime/words.h"

namespace attune {
namespace {

struct StorageCode {
  std::uint8_t code, bits;
};

/// By storage, in the order of attune_storage.
constexpr std::array<StorageCode, storage_count> storage_codes = {
    {{kDLFloat, 32}, {kDLBfloat, 16}, {kDLFloat, 16}, {kDLFloat, 64}, {kDLInt, 8}, {kDLUInt, 8}, {kDLInt, 32}, {kDLInt, 64}, {kDLBool, 8}}};

int storage_from(const DLDataType& type) {
  for (std::size_t i = 0; i < storage_codes.size(); ++i)
    if (type.lanes == 1 && storage_codes[i].code == type.code && storage_codes[i].bits == type.bits) return static_cast<int>(i);
  return -1;
}

constexpr std::array<DLDeviceType, 3> device_codes = {kDLCPU, kDLOpenCL, kDLCUDA};  // in the order of attune_device, without vulkan: no tensor lies there

/// What a managed tensor points to.
template <class Managed>
struct Description {
  Managed managed{};
  std::array<std::int64_t, max_rank> shape{}, strides{};
};

template <class Managed>
Result<Managed*> describe(const Tensor& tensor) {
  if (tensor.rank < 0 || tensor.rank > max_rank || tensor.stride_count != tensor.rank)
    return Error{words("tensor ", text_of(tensor), ": has ", tensor.rank, " extents and ", tensor.stride_count,
                       " strides; expected as many strides as extents, at most ", max_rank)};
  if (!is_known(tensor.storage) || static_cast<std::size_t>(tensor.device) >= device_codes.size())
    return Error{words("tensor ", text_of(tensor), ": has storage ", static_cast<int>(tensor.storage), " on device ", static_cast<int>(tensor.device),
                       "; those that DLPack knows are 0 to ", storage_count - 1, " and 0 to ", device_codes.size() - 1)};
  auto* description = new (std::nothrow) Description<Managed>;
  if (description == nullptr) return Error{"tensor: there is no memory for its DLPack description"};
  description->shape = tensor.extents;
  description->strides = tensor.strides;
  Managed& managed = description->managed;
  const StorageCode code = storage_codes[static_cast<std::size_t>(tensor.storage)];
  managed.dl_tensor = {tensor.data,
                       {device_codes[static_cast<std::size_t>(tensor.device)], tensor.device_number},
                       tensor.rank,
                       {code.code, code.bits, 1},
                       description->shape.data(),
                       description->strides.data(),
                       static_cast<std::uint64_t>(tensor.byte_offset)};
  managed.manager_ctx = description;
  managed.deleter = [](Managed* self) { delete static_cast<Description<Managed>*>(self->manager_ctx); };
  return &managed;
}

}  // namespace

Result<Tensor> from_dlpack(const DLTensor& tensor) {
  const int storage = storage_from(tensor.dtype);
  if (storage < 0)
    return Error{words("DLPack tensor: its element type is not one of kernels: code ", tensor.dtype.code, ", bits ", tensor.dtype.bits,
                       ", lanes ", tensor.dtype.lanes, "; expected f32, bf16, f16, f64, i8, u8, i32, i64 or boolean, one lane")};
  const DLDeviceType place = tensor.device.device_type == kDLCUDAHost ? kDLCPU : tensor.device.device_type;
  const auto* device = std::ranges::find(device_codes, place);
  if (device == device_codes.end())
    return Error{words("DLPack tensor: is on device type ", static_cast<int>(tensor.device.device_type),
                       "; expected memory of the CPU, which is 1 or (pinned by CUDA) 3, of CUDA, which is 2, or of OpenCL, which is 4")};
  if (tensor.ndim < 0 || tensor.ndim > max_rank) return Error{words("DLPack tensor: has ", tensor.ndim, " dims; expected 0 to ", max_rank)};
  if (tensor.ndim > 0 && tensor.shape == nullptr) return Error{words("DLPack tensor: has ", tensor.ndim, " dims but its shape is null")};
  auto* data = static_cast<std::byte*>(tensor.data);
  const bool is_handle = place == kDLOpenCL;  // a cl_mem, to which no bytes are added
  if (data != nullptr && !is_handle) data += tensor.byte_offset;
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  const std::span<const std::int64_t> extents(tensor.shape, rank);
  Tensor view(static_cast<void*>(data), static_cast<attune_storage>(storage), extents);
  if (tensor.strides != nullptr)
    view = Tensor(static_cast<void*>(data), view.storage, extents, std::span<const std::int64_t>(tensor.strides, rank));
  if (place == kDLCPU) return view;
  return view.on_device(static_cast<attune_device>(device - device_codes.begin()), tensor.device.device_id,
                        is_handle ? static_cast<std::int64_t>(tensor.byte_offset) : 0);
}

Result<Tensor> from_dlpack(const DLManagedTensorVersioned& managed) {
  if (managed.version.major != DLPACK_MAJOR_VERSION)
    return Error{words("DLPack tensor: is of version ", managed.version.major, ".", managed.version.minor, "; expected 1.x")};
  Result<Tensor> view = from_dlpack(managed.dl_tensor);
  if (view) view->is_read_only = (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  return view;
}

Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor) {
  Result<DLManagedTensorVersioned*> managed = describe<DLManagedTensorVersioned>(tensor);
  if (!managed) return managed;
  managed.value()->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.value()->flags = tensor.is_read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return managed;
}

Result<DLManagedTensor*> to_unversioned_dlpack(const Tensor& tensor) {
  if (tensor.is_read_only)
    return Error{words("tensor ", text_of(tensor), ": is read-only, which DLPack before 1.0 cannot say; to_dlpack() can")};
  return describe<DLManagedTensor>(tensor);
}

}  // namespace attune
