#include <algorithm>

#include "runtime/arguments.h"

namespace attune {
namespace {

halide_type_t type_of(attune_storage storage) {
  switch (storage) {
    case attune_f32:
      return {halide_type_float, 32};
    // Halide 21 computes with bfloat slowly on CPUs and wrongly on GPUs: kernels take the bits.
    case attune_bf16:
      return {halide_type_uint, 16};
    case attune_f16:
      return {halide_type_float, 16};
    case attune_f64:
      return {halide_type_float, 64};
    case attune_i8:
      return {halide_type_int, 8};
    case attune_i32:
      return {halide_type_int, 32};
    case attune_i64:
      return {halide_type_int, 64};
    case attune_u8:
    case attune_boolean:
      break;
  }
  return {halide_type_uint, 8};
}

// Where an empty tensor points: Halide would take null for a question about bounds. Nothing reads or writes it.
alignas(64) std::array<std::uint8_t, 64> nothing;

}  // namespace

void fill_buffers(const attune_kernel_v1& kernel, Arguments arguments, attune_device device, CallBuffers& call) {
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
    buffer.type = type_of(tensor.storage);
    buffer.dimensions = tensor.rank;
    buffer.dim = &call.shapes[first];
    if (device != attune_cpu && tensors_of(kernel)[t].is_output == 0 && !is_empty) buffer.set_host_dirty();
    call.pointers[1 + t] = &buffer;
  }
}

}  // namespace attune
