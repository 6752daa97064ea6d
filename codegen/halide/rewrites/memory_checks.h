/// What a kernel itself checks while it runs: whether there is memory for what it stores between its stages.
#pragma once

#include <Halide.h>

namespace attune {

/// Ends a call with halide_error_code_buffer_allocation_too_large where what a stage stores has more elements than Halide's 32-bit indices
/// tell apart. Its memory then has one extent, whose bytes code generation need not check: see with_checked_sizes. Stands behind all
/// steps that change the extents of what is stored.
void limit_stored_elements(Halide::Pipeline& pipeline);

/// The target for the code generation of what limit_stored_elements has checked: its own check, of 2^31 bytes, is for fewer elements.
Halide::Target with_checked_sizes(const Halide::Target& target);

}  // namespace attune
