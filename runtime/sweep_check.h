/// Whether what a manifest says of sweeps could be: a part of the check of manifests.
#pragma once

#include <string>

#include "runtime/result.h"
#include "runtime/signature.h"

namespace attune {

/// A table of so many rows, of which there may be none.
inline bool is_table(const void* table, std::int32_t count, std::int32_t limit) {
  return count >= 0 && count <= limit && (count == 0 || table != nullptr);
}

/// A block of a sweep, or where one begins.
inline bool changes_in_a_call(const attune_kernel_v5& kernel, std::int32_t dim) { return is_of_sweeps(dims_of(kernel)[static_cast<std::size_t>(dim)].formula); }

/// What is wrong with a band or its start, whose operands stand before it; empty if nothing.
std::string band_problem(const attune_kernel_v5& kernel, const attune_dim_v1& dim);

/// Sweeps one behind the other, and dims that change during a call in their steps alone.
Result<void> check_sweeps(const attune_kernel_v5& kernel);

}  // namespace attune
