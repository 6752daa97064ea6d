#include "runtime/arguments.h"

namespace attune {
namespace {

// Where an empty tensor points: Halide would take null for a question about bounds. Nothing reads or writes it.
alignas(64) std::array<std::uint8_t, 64> nothing;

}  // namespace

void fill_buffers(const attune_kernel_v3& kernel, Arguments arguments, attune_device device, CallBuffers& call) {
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    const Tensor& tensor = *arguments[t];
    const auto rank = static_cast<std::size_t>(tensor.rank);
    const bool is_empty = tensor.is_empty();
    const std::size_t first = call.shapes.size();
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t axis = rank - 1 - i;
      // The stride of an extent of 0 or 1 may be any number; kernels expect 1 innermost.
      const bool has_stride = tensor.extents[axis] > 1 && !is_empty;
      const std::int64_t stride = has_stride ? tensor.strides[axis] : (i == 0 ? 1 : 0);
      call.shapes.add(0, static_cast<std::int32_t>(tensor.extents[axis]), static_cast<std::int32_t>(stride));
    }
    halide_buffer_t& buffer = call.buffers.add();
    buffer.host = is_empty ? nothing.data() : static_cast<std::uint8_t*>(tensor.data);
    buffer.type = halide_type_of(tensor.storage);
    buffer.dimensions = tensor.rank;
    buffer.dim = &call.shapes[first];
    if (device == attune_cpu || is_empty) continue;
    if (tensor.device != attune_cpu)
      buffer.host = nullptr;
    else if (tensors_of(kernel)[t].role != attune_output)
      buffer.set_host_dirty();
  }
}

}  // namespace attune
