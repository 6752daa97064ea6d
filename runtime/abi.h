/* The layout of what a kernel file exports: the one agreement between the compiler and the runtime, in C. */
#ifndef ATTUNE_RUNTIME_ABI_H
#define ATTUNE_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTUNE_ABI_VERSION 1

/* The most that a kernel has: the compiler refuses what the runtime would. An extent is at most 2^30, for twice as much is the largest
   index of Halide's 32 bits; nor has a tensor more elements than they count. */
#define ATTUNE_MAX_TENSORS 64
#define ATTUNE_MAX_DIMS 64
#define ATTUNE_MAX_EXTENT (INT64_C(1) << 30)
#define ATTUNE_MAX_ELEMENTS ((INT64_C(1) << 31) - 1)

/* Each of the three numbers of a slice has so many bits of its dim's `value`. */
#define ATTUNE_SLICE_BITS 21

/* How an element is stored. bf16 is the upper half of an f32; boolean is one byte, 0 or 1. */
enum attune_storage {
  attune_f32 = 0,
  attune_bf16 = 1,
  attune_f16 = 2,
  attune_f64 = 3,
  attune_i8 = 4,
  attune_u8 = 5,
  attune_i32 = 6,
  attune_i64 = 7,
  attune_boolean = 8
};

/* How the extent of a dim follows from others. */
enum attune_formula {
  attune_free = 0,     /* binds to the extent of the first input that has it */
  attune_fixed = 1,    /* is `value` */
  attune_product = 2,  /* value * the product of the operands (rename: one operand, value 1) */
  attune_quotient = 3, /* operand / value, which must divide it */
  attune_sum = 4,      /* the sum of the operands */
  attune_slice = 5     /* positions of the operand: with B = ATTUNE_SLICE_BITS, from start = value >> 2 B on every step = (value >> B) % 2^B -th,
                          count = value % 2^B of them, or all (0). The operand has the last of them: start + (count - 1) * step; of 0, at least `start` positions */
};

struct attune_dim_v1 {
  const char* name;
  int32_t formula; /* attune_formula */
  int32_t operand_count;
  const int32_t* operands; /* numbers of dims, all smaller than this dim's own */
  int64_t value;
};

struct attune_tensor_v1 {
  const char* name;
  int32_t storage; /* attune_storage */
  int32_t is_output;
  int32_t rank;
  const int32_t* dims; /* numbers of dims, outermost first */
};

/* `minimum <= extent of dim <= maximum` for every condition of a code object: it may be used. */
struct attune_condition_v1 {
  int32_t dim;
  int64_t minimum;
  int64_t maximum;
};

enum attune_device { attune_cpu = 0, attune_opencl = 1, attune_cuda = 2 };

/* One compiled body of a kernel. The runtime takes the first whose features the machine has and whose conditions hold, of those for one
   device or target if the caller names one.

   Buffers describe every tensor as Halide does: innermost dim first with stride 1, minimum 0, host memory that is not null; empty
   tensors too. bf16 is uint16, its bits; boolean is uint8. No body runs if all outputs are empty. */
struct attune_code_v1 {
  const char* target;   /* a name of the table of targets */
  const char* schedule; /* what `attune explain` prints */
  int32_t device;       /* attune_device */
  int32_t condition_count;
  const struct attune_condition_v1* conditions;
  const char* features; /* CPU features in GCC's spelling, separated by blanks: "avx2 fma" */
  /* arguments[0] points to a void* user context; arguments[1 + t] is the halide_buffer_t* of tensor t.
     Gives 0 or a Halide error code. */
  int (*run)(void** arguments);
};

struct attune_kernel_v1 {
  uint32_t abi_version;
  const char* name; /* the name that library.kernel(name) takes */
  const char* variant;
  const char* parameters; /* "window=512", comma separated */
  const char* hash;       /* of the specialised graph, the types and the schedules, 16 hexadecimal digits */
  int32_t dim_count;
  int32_t tensor_count;
  int32_t code_count;
  const struct attune_dim_v1* dims;
  const struct attune_tensor_v1* tensors; /* inputs, then outputs, in the order of the call */
  const struct attune_code_v1* codes;     /* best target first; small tiles before large ones where conditions tell */
};

/* The setters of the Halide runtime inside a shared file; the opening program puts its own pool and allocator there. */
struct attune_hooks_v1 {
  void* (*set_do_par_for)(void*);
  void* (*set_malloc)(void*);
  void* (*set_free)(void*);
  void* (*set_error_handler)(void*);
};

/* Symbol "attune_library_v1" of a shared file. A lone object exports only "attune_kernel_v1_<name>". */
struct attune_library_v1 {
  uint32_t abi_version;
  int32_t kernel_count;
  const struct attune_kernel_v1* const* kernels;
  struct attune_hooks_v1 hooks;
};

/* The last bytes of a shared kernel file, little-endian, unaligned in the file. */
#define ATTUNE_TRAILER_MAGIC "ATTUNEK1"
struct attune_trailer_v1 {
  char magic[8];
  uint32_t format_version; /* ATTUNE_ABI_VERSION */
  uint32_t reserved;       /* 0 */
  uint64_t length;         /* of the file before the trailer, in bytes */
  uint8_t sha256[32];      /* of those bytes */
};

#ifdef __cplusplus
}
#endif
#endif
