/// How much memory the blocks of threads of a device's kernels share, as a function of the object that the runtime asks before it launches any.
#pragma once

#include <Halide.h>

#include <string>

namespace attune {

/// Adds the function `int SYMBOL_shared_bytes(void)` to the module of a code for a device: the most bytes that a block of any of its kernels shares.
/// The problem in words if a kernel has no such bound.
std::string add_shared_bytes(Halide::Module& module, const std::string& symbol);

}  // namespace attune
