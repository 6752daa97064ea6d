/* Kernels written by hand in C, with the manifests that the compiler would write: the runtime is tested without the compiler. */
#ifndef ATTUNE_TESTS_RUNTIME_KERNELS_H
#define ATTUNE_TESTS_RUNTIME_KERNELS_H

#include "runtime/abi.h"

/* A step of code that is called with all tensors of its kernel. */
#define ATTUNE_ONE_STEP(name, inputs, outputs, codes, code_count)                               \
  static const int32_t name##_tensors_in_order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};             \
  static const struct attune_step_v1 name = {"by_hand",  inputs, outputs, name##_tensors_in_order, 0, \
                                             code_count, NULL,   codes}

#ifdef __cplusplus
extern "C" {
#endif

/* out[r, c] = a[r, c] + b[r, c], f32 [rows x columns]. */
extern const struct attune_kernel_v5 attune_kernel_v5_add;
/* out[r, c] = bias[c] + sum_i a[r, i] * b[i, c]: each row a task of the thread pool, with scratch memory. An empty sum is 0, for which one term is read, as of indices that
   are clamped into what is summed. */
extern const struct attune_kernel_v5 attune_kernel_v5_linear;
/* total[r, c] += x[r, c], f32 [rows x columns]: total, which stands before x, is updated. */
extern const struct attune_kernel_v5 attune_kernel_v5_accumulate;
/* Dims by every formula: x [heads x depth], y [keys x 4] give joined [model = 2 * heads * depth], all [heads + keys], half [depth / 2],
   alias [renamed = heads], each filled with its own extent. All i32. */
extern const struct attune_kernel_v5 attune_kernel_v5_formulas;
/* codes [9] i32: 256 * type code + bits of the buffers of nine scalars, one of each storage. */
extern const struct attune_kernel_v5 attune_kernel_v5_storages;
/* out [1] i32: which of three codes ran: the first needs a feature that no CPU has, the second takes at most 8 rows, the third 9 to 16. */
extern const struct attune_kernel_v5 attune_kernel_v5_choice;
/* Only for CPUs that do not exist. */
extern const struct attune_kernel_v5 attune_kernel_v5_elsewhere;
/* Says "row N is negative" for the first negative x[n] that one of its tasks meets, and fails with -1. */
extern const struct attune_kernel_v5 attune_kernel_v5_refuses;
/* Halide's own code: out[r, c] = keep[r] ? sum_i 2 * a[r, i] * b[i, c] : 0, with b bf16 and keep boolean. */
extern const struct attune_kernel_v5 attune_kernel_v5_product;
/* Three steps: raised[r, c] = x[r, c] + 1, total = sum of raised, out[r, c] = raised[r, c] * total and extents = {rows, columns}. */
extern const struct attune_kernel_v5 attune_kernel_v5_steps;
/* Two steps on joined[r, h * depth + d], f32 [rows x model], by the parts of model: it becomes x[h, r, d] + 1, and totals[r] is the sum of a row. */
extern const struct attune_kernel_v5 attune_kernel_v5_parts;
/* Two steps that are swept over blocks of batch and rows: out[b, r, c] = 2 x[b, r, c] + r, f32 [batch x rows x columns]; and how many blocks there were so far. */
extern const struct attune_kernel_v5 attune_kernel_v5_swept;
extern int swept_calls;

#ifdef __cplusplus
}
#endif
#endif
