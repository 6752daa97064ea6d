/// A call's tensors against the kernel's manifest: everything is checked before anything runs, one sentence for the first problem.
#pragma once

#include <HalideRuntime.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/abi.h"
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
Result<void> check_shapes(const attune_kernel_v2& kernel, Arguments arguments, DimExtents& extents);

/// Checks devices, strides, pointers and overlap of arguments whose shapes are right.
Result<void> check_memory(const attune_kernel_v2& kernel, Arguments arguments);

/// Checks that no output shares an element with another argument. Exact for dense tensors and slices of a common array;
/// others count as overlapping where their address ranges do.
Result<void> check_overlap(const attune_kernel_v2& kernel, Arguments arguments);

/// The tensors of a call as a kernel's code takes them, in the manifest's order.
struct CallBuffers {
  Table<halide_buffer_t, max_tensors> buffers;
  Table<halide_dimension_t, max_tensors * max_rank> shapes;  ///< of all tensors, one behind the other
};

/// How Halide describes elements of a known storage. Halide 21 computes with bfloat slowly on CPUs and wrongly on GPUs: kernels take the bits of bf16 as
/// u16. boolean is u8.
inline halide_type_t halide_type_of(attune_storage storage) {
  static constexpr std::array<std::pair<halide_type_code_t, std::uint8_t>, 9> types = {{{halide_type_float, 32}, {halide_type_uint, 16}, {halide_type_float, 16},
                                                                                        {halide_type_float, 64}, {halide_type_int, 8}, {halide_type_uint, 8},
                                                                                        {halide_type_int, 32}, {halide_type_int, 64}, {halide_type_uint, 8}}};
  static_assert(attune_f32 == 0 && attune_boolean == 8, "the table is in the order of the storages");
  const auto [code, bits] = types[static_cast<std::size_t>(storage)];
  return {code, bits};
}

/// Describes checked arguments as Halide takes them: innermost dim first, no null pointers. `call` is empty before.
void fill_buffers(const attune_kernel_v2& kernel, Arguments arguments, attune_device device, CallBuffers& call);

}  // namespace attune
