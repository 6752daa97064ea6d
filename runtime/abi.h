/* The layout of what a kernel file exports: the one agreement between the compiler and the runtime, in C. */
#ifndef ATTUNE_RUNTIME_ABI_H
#define ATTUNE_RUNTIME_ABI_H

#include <stdint.h>

#include "runtime/abi_hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATTUNE_ABI_VERSION 8

/* The most that a kernel has: the compiler refuses what the runtime would. Halide's 32 bits count indices up to twice the largest extent, and elements. */
#define ATTUNE_MAX_TENSORS 64
#define ATTUNE_MAX_DIMS 64
#define ATTUNE_MAX_STEPS 320
#define ATTUNE_MAX_STORED 320
#define ATTUNE_MAX_VIEWS 24
#define ATTUNE_MAX_SWEEPS 16
#define ATTUNE_MAX_EXTENT (INT64_C(1) << 30)
#define ATTUNE_MAX_ELEMENTS ((INT64_C(1) << 31) - 1)
#define ATTUNE_SLICE_BITS 21 /* of each of the three numbers of a slice in its dim's `value` */

/* How an element is stored. bf16 is the upper half of an f32, f16 is IEEE binary16; boolean is one byte, 0 or 1. */
enum attune_storage {
  attune_f32 = 0, attune_bf16 = 1, attune_f16 = 2, attune_f64 = 3,
  attune_i8 = 4, attune_u8 = 5, attune_i32 = 6, attune_i64 = 7,
  attune_boolean = 8
};

/* How the extent of a dim follows from others. */
enum attune_formula {
  attune_free = 0,     /* binds to the extent of the first input that has it */
  attune_fixed = 1,    /* is `value` */
  attune_product = 2,  /* value * the product of the operands (rename: one operand, value 1) */
  attune_quotient = 3, /* operand / value, which must divide it */
  attune_sum = 4,      /* the sum of the operands */
  attune_slice = 5,    /* positions of the operand: with B = ATTUNE_SLICE_BITS, from start = value >> 2 B on every step = (value >> B) % 2^B -th,
                          count = value % 2^B of them, or all (0). The operand has the last of them: start + (count - 1) * step; of 0, at least `start` positions */
  attune_block = 6,    /* so many positions of the first operand as a sweep takes at a time: the call chooses, `value` and the product of the others at least */
  attune_start = 7,    /* of the operand, a block: the position of the swept dim at which it begins */
  attune_band = 8,     /* of the first operand what a mask shows to the second, a block: to r up to r + value + third - fourth, if there; all to the first block */
  attune_band_start = 9 /* of the first operand, a band: where it begins, for r at r + value + second - third, if there */
};

struct attune_dim_v1 {
  const char* name;
  int32_t formula, operand_count; /* attune_formula */
  const int32_t* operands; /* numbers of dims, all smaller than this dim's own */
  int64_t value;
};

/* What a call does with a tensor. One that is updated is an input, among which it stands, and holds a result afterwards: steps write some of its elements. */
enum attune_role { attune_input = 0, attune_output = 1, attune_updated = 2 };

struct attune_tensor_v1 {
  const char* name;
  int32_t storage; /* attune_storage */
  int32_t role;    /* attune_role */
  int32_t rank;
  const int32_t* dims; /* numbers of dims, outermost first */
};

/* An output by the parts of its dims: of [tokens x model] one of [tokens x heads x depth], where model = heads * depth. Who writes it writes the output.
   Or any tensor's elements of the blocks that a sweep is at: a dim of the view is then a block of the tensor's own. */
struct attune_view_v1 {
  int32_t tensor, rank;
  const int32_t* dims;  /* numbers of dims, outermost first */
  const int32_t* parts; /* for each dim of the tensor: how many of `dims` it is the product of */
};

/* `minimum <= extent of dim <= maximum` for every condition of a code object: it may be used. */
struct attune_condition_v1 {
  int32_t dim;
  int64_t minimum, maximum;
};

enum attune_device { attune_cpu = 0, attune_opencl = 1, attune_cuda = 2, attune_vulkan = 3 };

/* One compiled body of a step. A call takes the first target of the kernel that the machine has, those that were tuned for its CPU before
   others, and whose codes take the extents; of the step's codes for it the first whose conditions hold. A caller may name a device or a target, whose codes alone are looked at then.

   Buffers describe every tensor as Halide does: innermost dim first with stride 1, minimum 0, host memory that is not null; empty
   tensors too: one that is read has strides of 0 but the innermost, and memory of a row, so that an index clamped into it may be read. bf16 is uint16, its bits; boolean is uint8. No body runs if all results of its step are empty. */
struct attune_code_v3 {
  const char* target;   /* a name of the table of targets */
  const char* schedule; /* what `attune explain` prints */
  int32_t device;       /* attune_device */
  int32_t condition_count;
  const struct attune_condition_v1* conditions;
  const char* features; /* CPU features in GCC's spelling, separated by blanks: "avx2 fma" */
  const char* cpus;     /* the kinds of CPUs that it was tuned for, separated by blanks: "intel", "amd/25", by vendor and family; "" for none in particular */
  /* arguments[0] points to a void* user context; after it stand, in the step's order, a halide_buffer_t* for each tensor that it reads, an
     int32_t* to the extent of each of its dims, and a halide_buffer_t* for each tensor that it writes. Gives 0 or a Halide error code. */
  int (*run)(void** arguments);
  int (*shared_bytes)(void); /* of memory that a block of threads of a device shares, the most of its kernels for all devices of the kind; null: none */
};

/* A stage of the kernel as it is called: it reads tensors of the call, or what earlier steps stored, and writes its results. */
struct attune_step_v1 {
  const char* stage;    /* its kind: "online_softmax" */
  int32_t input_count;  /* how many tensors it reads */
  int32_t output_count; /* and writes, at least one */
  const int32_t* tensors; /* their numbers: those that it reads, then those that it writes */
  int32_t dim_count, code_count;
  const int32_t* dims; /* numbers of the dims whose extents its codes are given */
  const struct attune_code_v3* codes; /* best target first, in the same order in each step; small tiles before large ones where conditions tell */
};

/* Steps that a call repeats for one block after the other, so that what they store for one another is as long as a block and is still in a cache
   when it is read. Each row is computed by itself; a step that sums over rows reads what it wrote for the blocks before. On a device a block is the whole. */
struct attune_sweep_v1 {
  int32_t first_step, step_count, dim_count;
  const int32_t* blocks; /* numbers of dims of attune_block, the outermost loop's first; before them perhaps one of attune_band, of the last */
  const int32_t* starts; /* and where each of them begins */
};

struct attune_kernel_v5 {
  uint32_t abi_version;
  const char* name; /* the name that library.kernel(name) takes */
  const char* variant;
  const char* parameters; /* "window=512", comma separated */
  const char* hash;       /* of the specialised graph, the types and the schedules, 16 hexadecimal digits */
  int32_t dim_count, tensor_count; /* tensors of a call */
  int32_t stored_count; /* results that steps store for one another */
  int32_t step_count;
  const struct attune_dim_v1* dims;
  const struct attune_tensor_v1* tensors; /* inputs, then outputs, in the order of the call; then what is stored between steps */
  const struct attune_step_v1* steps;     /* each after those whose results it reads; one writes each output and each stored tensor, and some write what is updated, which they read, too */
  int32_t view_count;
  const struct attune_view_v1* views; /* their numbers follow those of the tensors */
  int32_t sweep_count;
  const struct attune_sweep_v1* sweeps; /* in the order of their steps, of which each is in one sweep at most */
};

/* Symbol "attune_library_v1" of a shared file. A lone object exports only "attune_kernel_v5_<name>". */
struct attune_library_v1 {
  uint32_t abi_version; /* first in every version: it says how the rest is laid out */
  int32_t kernel_count;
  const struct attune_kernel_v5* const* kernels;
  struct attune_hooks_v2 hooks;
};

#ifdef __cplusplus
}
#endif
#endif
