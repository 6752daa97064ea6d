/// A launch of blocks that split a dim (Launch::Splits), as LLVM's assembly in the function of launcher.h.
#pragma once

#include <string>

#include "codegen/tensor_cores/launcher.h"

namespace attune::tensor_cores {

/// The types %buffer and %dimension, halide_buffer_t and halide_dimension_t of HalideRuntime.h.
inline constexpr int field_of_device = 0, field_of_flags = 3, field_of_type = 4, field_of_rank = 5, field_of_dims = 6, field_of_extent = 1,
                     field_of_stride = 2;

/// Places for %splits.place, an i32, and the buffer %states, made at the beginning of the function.
std::string split_slots();
/// Sets both, and %splits and %blocks, all blocks of threads: `extent` is that of the dim, `rows` the number of blocks of one split. The memory of
/// %states is not made.
std::string split_counts(const Launch::Splits& splits, const std::string& extent, const std::string& rows);

}  // namespace attune::tensor_cores
