#include <algorithm>

#include "runtime/arguments.h"

namespace attune {
namespace {

// Where an empty tensor points: Halide would take null for a question about bounds. Nothing reads or writes it.
alignas(64) std::array<std::uint8_t, 64> nothing;

}  // namespace

void fill_buffers(const attune_kernel_v5& kernel, Arguments arguments, attune_device device, CallBuffers& call) {
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

void add_views(const attune_kernel_v5& kernel, ViewBuffers& views) {
  for (const attune_view_v1& view : views_of(kernel)) {
    const std::size_t first = views.shapes.size();
    for (std::int32_t i = 0; i < view.rank; ++i) views.shapes.add();
    halide_buffer_t& buffer = views.buffers.add();
    buffer.dimensions = view.rank;
    buffer.dim = &views.shapes[first];
  }
}

void describe_view(const attune_view_v1& view, std::span<const std::int64_t> extents, const halide_buffer_t& whole, halide_buffer_t& buffer) {
  buffer.type = whole.type;
  std::size_t part = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(whole.dimensions); ++axis) {
    const auto count = static_cast<std::size_t>(view.parts[axis]);
    std::int32_t stride = whole.dim[static_cast<std::size_t>(whole.dimensions) - 1 - axis].stride;
    for (std::size_t i = part + count; i-- > part;) {
      const auto extent = static_cast<std::int32_t>(extents[static_cast<std::size_t>(dims_of(view)[i])]);
      buffer.dim[static_cast<std::size_t>(view.rank) - 1 - i] = halide_dimension_t(0, extent, stride);
      stride *= extent;
    }
    part += count;
  }
}

std::int64_t first_of_view(const attune_sweep_v1& sweep, const attune_view_v1& view, std::span<const std::int64_t> extents, const halide_buffer_t& whole) {
  std::int64_t first = 0;
  std::size_t part = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(whole.dimensions); ++axis) {
    const auto block = std::ranges::find(blocks_of(sweep), dims_of(view)[part]);
    if (block != blocks_of(sweep).end()) {
      const std::int32_t start = starts_of(sweep)[static_cast<std::size_t>(block - blocks_of(sweep).begin())];
      first += extents[static_cast<std::size_t>(start)] * whole.dim[static_cast<std::size_t>(whole.dimensions) - 1 - axis].stride;
    }
    part += static_cast<std::size_t>(view.parts[axis]);
  }
  return first;
}

}  // namespace attune
