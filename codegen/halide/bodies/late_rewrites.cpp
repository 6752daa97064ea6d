#include "codegen/halide/bodies/late_rewrites.h"

#include "codegen/halide/numbers/kept_roundings.h"
#include "codegen/halide/numbers/low_bits.h"
#include "codegen/halide/numbers/opaque_real.h"
#include "codegen/halide/rewrites/empty_on_devices.h"
#include "codegen/halide/rewrites/last_first.h"
#include "codegen/halide/rewrites/lift_guards.h"
#include "codegen/halide/rewrites/memory_checks.h"
#include "codegen/halide/rewrites/prefetch_results.h"
#include "codegen/halide/rewrites/rare_lanes.h"
#include "codegen/halide/rewrites/seen_conditions.h"
#include "codegen/halide/rewrites/stack_budget.h"
#include "codegen/halide/rewrites/store_beside.h"
#include "codegen/halide/rewrites/wide_loads.h"

namespace attune {

void add_late_rewrites(Halide::Pipeline& pipeline, const Stored& stored, Device device) {
  // What is stored elsewhere gets its stores before anything looks for stores.
  store_beside(pipeline);
  // Behind Halide's bounds, which are not to see what the numbers stand for; before the steps that read loops' extents.
  define_numbers(pipeline, stored.numbers);
  turn_last_first(pipeline, stored.func, stored.last_first);
  if (stored.sums.defined()) prefetch_results(pipeline, stored.func, stored.sums);
  if (device != Device::cpu) {
    // The launches have their grids, of numbers that are defined.
    allow_empty_on_devices(pipeline, device == Device::vulkan ? vulkan_granule : 1);
    // Nothing infers bounds any more.
    see_conditions(pipeline);
    // Compilers for devices make no FMAs that may be relied on.
    take_rare_way(pipeline);
    if (device == Device::vulkan) keep_roundings(pipeline);
    if (device == Device::vulkan) take_low_bits_by_shifts(pipeline);
    // All reals are there: those that drivers' compilers must not know become arguments.
    find_opaque_reals_on_host(pipeline);
    // Indices are flat, and no pass looks for loads any more.
    if (device == Device::cuda) load_wide(pipeline);
  } else {
    // Vectors are made; a condition that is lifted may then stand around a branch.
    branch_on_rare_lanes(pipeline);
    lift_guards(pipeline);
    // All allocations are there, with their last extents.
    limit_stored_elements(pipeline);
    // What it moves to the heap is checked as any allocation is, by code generation.
    keep_stack_budget(pipeline);
  }
}

}  // namespace attune
