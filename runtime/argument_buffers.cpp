#include <algorithm>

#include "runtime/arguments.h"
#include "runtime/block.h"
#include "runtime/storage.h"

namespace attune {
namespace {

// Where an output without elements points: Halide would take null for a question about bounds. Nothing reads or writes it.
alignas(64) std::array<std::uint8_t, 64> nothing;

bool is_read(const attune_tensor_v1& tensor) { return tensor.role != attune_output; }

std::int64_t row_bytes(const Tensor& tensor) {
  const std::int64_t innermost = tensor.extents[static_cast<std::size_t>(tensor.rank) - 1];
  return std::max<std::int64_t>(innermost, 1) * bytes_of(tensor.storage);
}

}  // namespace

std::size_t empty_row_bytes(const attune_kernel_v5& kernel, Arguments arguments, std::span<const std::int64_t> extents) {
  if (std::ranges::find(extents, 0) == extents.end()) return 0;  // most calls, without a look at each tensor
  std::int64_t bytes = 0;
  for (std::size_t t = 0; t < arguments.size(); ++t)
    if (arguments[t]->is_empty() && is_read(tensors_of(kernel)[t])) bytes = std::max(bytes, row_bytes(*arguments[t]));
  return bytes == 0 ? 0 : round_to_block(static_cast<std::size_t>(bytes) + block_slack);
}

void fill_buffers(const attune_kernel_v5& kernel, Arguments arguments, attune_device device, std::byte* empty_row, CallBuffers& call) {
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
    const bool is_input = is_read(tensors_of(kernel)[t]);
    std::uint8_t* const stand_in = is_input ? reinterpret_cast<std::uint8_t*>(empty_row) : nothing.data();
    buffer.host = is_empty ? stand_in : static_cast<std::uint8_t*>(tensor.data);
    buffer.type = halide_type_of(tensor.storage);
    buffer.dimensions = tensor.rank;
    buffer.dim = &call.shapes[first];
    if (device == attune_cpu) continue;
    if (tensor.device != attune_cpu && !is_empty)
      buffer.host = nullptr;
    else if (is_input)
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
