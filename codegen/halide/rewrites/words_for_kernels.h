/// What kernels for Vulkan may take from outside: words of 32 bits.
#pragma once

#include <Halide.h>

namespace attune {

/// What is no word of 32 bits is computed in kernels, not outside of them: Halide packs the arguments of a Vulkan kernel without gaps, so that of two
/// truth values one is read in the place of the other, and 64 bits lie where Vulkan allows none.
/// Known truths are no values there, also of an opaque condition.
/// To be run behind what hoists values out of kernels. Ends the compiler where a kernel still takes a number that is no word.
Halide::Internal::Stmt with_words_for_kernels(const Halide::Internal::Stmt& s);

}  // namespace attune
