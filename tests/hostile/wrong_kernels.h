/* Kernels that are wrong on purpose: the trials must catch each. All take x [rows x columns] and give out [rows x columns], f32: out = 2 *
 * x. */
#ifndef ATTUNE_TESTS_HOSTILE_WRONG_KERNELS_H
#define ATTUNE_TESTS_HOSTILE_WRONG_KERNELS_H

#include "runtime/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum attune_wrong {
  attune_right = 0, /* does nothing wrong: a row's result stands in a scratch block first */
  attune_reads_beyond,
  attune_reads_before,
  attune_writes_beyond,
  attune_writes_before,
  attune_writes_between_rows,
  attune_writes_to_its_input,
  attune_leaves_an_element,
  attune_takes_placement_for_a_number, /* its numbers depend on where x lies */
  attune_takes_scratch_for_zeros,      /* its numbers depend on what the scratch block held */
  attune_writes_beyond_scratch,
  attune_writes_before_scratch,
  attune_writes_far_beyond_scratch,
  attune_uses_scratch_after_its_end,
  attune_keeps_scratch,
  attune_wrong_count
};

/* The kernel that does this. */
const struct attune_kernel_v5* attune_wrong_kernel(enum attune_wrong wrong);

#ifdef __cplusplus
}
#endif
#endif
