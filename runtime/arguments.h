/// A call's tensors against the kernel's manifest: everything is checked before anything runs, one sentence for the first problem.
#pragma once

#include <HalideRuntime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/abi.h"
#include "runtime/halide_type.h"
#include "runtime/reach.h"
#include "runtime/result.h"
#include "runtime/signature.h"
#include "runtime/table.h"
#include "runtime/tensor.h"

namespace attune {

/// Pointers to the tensors of a call in the manifest's order.
using Arguments = std::span<const Tensor* const>;

/// The extent of each dim of the manifest.
using DimExtents = std::array<std::int64_t, max_dims>;

/// Checks number, storage, rank and extents, and fills `extents`. `arguments` has one pointer for each tensor of the manifest.
Result<void> check_shapes(const attune_kernel_v5& kernel, Arguments arguments, DimExtents& extents);

/// Where a call runs: which device of a kind, by its number.
struct CallPlace {
  attune_device kind = attune_cpu;
  int number = 0;
};

/// Checks devices, strides, pointers and overlap of arguments whose shapes are right. What is on a device must be where the call runs; null: nobody
/// knows where. Whether the device knows the memory is not asked.
Result<void> check_memory(const attune_kernel_v5& kernel, Arguments arguments, const CallPlace* place);

/// Refuses what a device cannot take although the host can: strides below 0, on the host's side of a copy neither.
Result<void> check_strides_for(const CallPlace& place, const attune_kernel_v5& kernel, Arguments arguments);

/// Checks that nothing that the call writes, outputs and what is updated, shares an element with another argument; `reaches`: of each argument. Exact
/// for dense tensors and slices of a common array; others count as overlapping where their address ranges do.
Result<void> check_overlap(const attune_kernel_v5& kernel, Arguments arguments, std::span<const Reach> reaches);

/// Checks that no element of a tensor on the host lies in the memory that the call stores its intermediate results in.
Result<void> check_workspace(const attune_kernel_v5& kernel, Arguments arguments, std::span<const std::byte> workspace);

/// Whether a tensor's strides may reach an element twice. Of checked strides.
bool overlaps_itself(const Tensor& tensor);

/// Whether two tensors may share an element, as check_overlap finds it.
bool overlap(const Tensor& a, const Tensor& b);

/// The tensors of a call as a kernel's code takes them, in the manifest's order.
struct CallBuffers {
  Table<halide_buffer_t, max_tensors> buffers;
  Table<halide_dimension_t, max_tensors * max_rank> shapes;  ///< of all tensors, one behind the other
};

/// The bytes, in the form of a block (block.h), of a row that can stand for each input without elements: codes may read the row that an index clamped
/// into it names, where what is read decides nothing. 0 if all inputs have elements. `extents`: of the kernel's dims.
std::size_t empty_row_bytes(const attune_kernel_v5& kernel, Arguments arguments, std::span<const std::int64_t> extents);

/// Describes checked arguments as Halide takes them: innermost dim first, no null pointers but of what is on a device. `empty_row`: zeros, as many as
/// empty_row_bytes says. `call` is empty before.
void fill_buffers(const attune_kernel_v5& kernel, Arguments arguments, attune_device device, std::byte* empty_row, CallBuffers& call);

/// Outputs by the parts of their dims and blocks of tensors, in the manifest's order of views.
struct ViewBuffers {
  Table<halide_buffer_t, max_views> buffers;
  Table<halide_dimension_t, max_views * max_rank> shapes;
};

/// Room for the views of a kernel, whose dims and memory are told step by step. `views` is empty before.
void add_views(const attune_kernel_v5& kernel, ViewBuffers& views);

/// Describes `view` as one of `whole`, for these extents of the kernel's dims: its dims, not its memory.
void describe_view(const attune_view_v1& view, std::span<const std::int64_t> extents, const halide_buffer_t& whole, halide_buffer_t& buffer);

/// The place in `whole` of the view's first element: where the blocks that a sweep is at begin.
std::int64_t first_of_view(const attune_sweep_v1& sweep, const attune_view_v1& view, std::span<const std::int64_t> extents, const halide_buffer_t& whole);

/// Tells `to` where the elements of `from` are now, on the host and on a device.
inline void share_memory(const halide_buffer_t& from, halide_buffer_t& to) {
  to.host = from.host;
  to.device = from.device;
  to.device_interface = from.device_interface;
  to.flags = from.flags;
}

}  // namespace attune
