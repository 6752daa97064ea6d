/// What a kernel itself checks while it runs: whether there is memory for what it stores between its stages, and what schedules promise of that.
#pragma once

#include <Halide.h>

namespace attune {

/// Ends a call with halide_error_code_buffer_allocation_too_large where what a stage stores has more elements than Halide's 32-bit indices
/// tell apart. Its memory then has one extent, whose bytes code generation need not check: see with_checked_sizes. Stands behind all
/// steps that change the extents of what is stored.
void limit_stored_elements(Halide::Pipeline& pipeline);

/// Without the checks that Halide adds to a call, which the runtime has made, but for what a schedule promises (`bound`, `bound_extent`, `bound_storage`)
/// and Halide could not prove: passes take a promise for true, and where it is not, what they make of it is wrong without a word. Such a call ends with
/// halide_error_code_explicit_bounds_too_small or halide_error_code_storage_bound_too_small. To be run behind all steps that simplify.
Halide::Internal::Stmt with_checked_promises(const Halide::Internal::Stmt& s);

/// The target for the code generation of what limit_stored_elements has checked: its own check, of 2^31 bytes, is for fewer elements.
Halide::Target with_checked_sizes(const Halide::Target& target);

}  // namespace attune
