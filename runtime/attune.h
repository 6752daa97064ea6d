/* Attune's runtime for C, and for languages that call C: opens kernel files and calls their kernels.
   A function that fails gives null or -1; attune_last_error() then says why. All may be called from any thread.
   A child made by fork() may call CPU kernels that were open before, whatever the parent's threads did at that moment; fork() waits for the
   parallel loops of calls that run. A child opens files only if no thread of the parent was opening one. */
#ifndef ATTUNE_RUNTIME_ATTUNE_H
#define ATTUNE_RUNTIME_ATTUNE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attune_library; /* an open kernel file */
struct attune_kernel;  /* one of its kernels, as long as it is open */

/* A strided view. Extents and strides are listed outermost first; strides count elements. */
struct attune_tensor {
  const char* name; /* of the input or output; null in calls by order */
  void* data;       /* kernels do not write to inputs, but to those that they update: caches, "updated" in attune_describe */
  int32_t storage;  /* enum attune_storage */
  int32_t rank;
  const int64_t* extents;
  const int64_t* strides; /* null: contiguous */
};

/* Opens a file that `attune compile --shared` wrote, after checking it. The check finds damage, not attackers: a kernel file is code. */
struct attune_library* attune_open(const char* path);

/* The same for one certain file: another than that with this SHA-256, 64 hexadecimal digits as `sha256sum FILE` prints them, is refused. */
struct attune_library* attune_open_expected(const char* path, const char* expected_sha256);

/* A library of one kernel that is linked into the program: attune_link(&attune_kernel_v5_NAME). Its object takes Halide's runtime from the static
   library (attune::runtime); a program with the shared one opens kernel files. */
struct attune_library* attune_link(const struct attune_kernel_v5* manifest);

/* Null is allowed. Kernels of the library must not be used afterwards. */
void attune_close(struct attune_library* library);

int32_t attune_kernel_count(const struct attune_library* library);

/* The name of a kernel; null if the number is not below the count. */
const char* attune_kernel_name(const struct attune_library* library, int32_t number);

/* The kernel of that name, if this machine can run it. */
const struct attune_kernel* attune_find_kernel(const struct attune_library* library, const char* name);

/* The same with the code of one device ("cpu", "opencl", "cuda", "vulkan") or of one target ("x86-64-v3") alone: without this the CPU's code comes
   first wherever the kernel holds some that the machine can run. Of several devices of a kind "cuda" is the first, "cuda:1" the second, and
   "cuda:NAME" the first with NAME in what its driver calls it. A kernel for another device takes and gives memory of the CPU, too. */
const struct attune_kernel* attune_find_kernel_on(const struct attune_library* library, const char* name, const char* device);

/* The targets that a kernel holds code for, the best of each device first. The name and the problem are null if the number is not below
   the count; the problem is why this machine cannot run the target, and empty if it can. */
int32_t attune_target_count(const struct attune_kernel* kernel);
const char* attune_target_name(const struct attune_kernel* kernel, int32_t number);
const char* attune_target_problem(const struct attune_kernel* kernel, int32_t number);

/* What the kernel takes, as abi.h lays it out, and in a few lines of text. */
const struct attune_kernel_v5* attune_manifest(const struct attune_kernel* kernel);
const char* attune_describe(const struct attune_kernel* kernel);

/* Checks all tensors, then runs. Either all have names, or none has and they stand in the manifest's order. Gives 0 or -1.
   Without memory for what the kernel stores between its stages the call fails in the middle of its work, on whichever thread that is: outputs
   then hold anything, all memory is given back, and the next call works.
   A call takes at most 256 kB of its thread's stack. It is refused where too little of that is left, unless the stack is none that the
   system gave the thread, as a coroutine's. */
int attune_call(const struct attune_kernel* kernel, const struct attune_tensor* tensors, int32_t count);

/* The same with memory for what the kernel stores between its stages: the call allocates nothing, or fails like one without memory if it
   is too little. `workspace` null and `workspace_bytes` 0: memory comes from the heap. `needed_bytes`, if not null, gets what was taken; of
   a call that failed, what it takes at least. */
int attune_call_with_workspace(const struct attune_kernel* kernel, const struct attune_tensor* tensors, int32_t count, void* workspace,
                               size_t workspace_bytes, size_t* needed_bytes);

/* Where a tensor is: enum attune_device, and the number of the device among those of its driver, as in "cuda:1". On CUDA `data` is a CUdeviceptr,
   on OpenCL a cl_mem. The element at index 0 lies `byte_offset` bytes behind that, on the CPU, too; there `number` means nothing. */
struct attune_place {
  int32_t device;
  int32_t number;
  uint64_t byte_offset;
};

/* What a call may be given beside its tensors; all of it may be null and 0. */
struct attune_call_options {
  void* workspace; /* as attune_call_with_workspace takes it, needed_bytes too */
  size_t workspace_bytes;
  size_t* needed_bytes;
  const struct attune_place* places; /* one for each tensor; null: all are on the CPU */
  /* Of a call on a device: a CUstream of its primary context (a cudaStream_t is one), or a cl_command_queue. The work is put there, and the call
     does not wait for it if all its tensors are on the device. Null: CUDA's default stream or a queue of the runtime's own; the call waits. */
  void* stream;
};
int attune_call_with(const struct attune_kernel* kernel, const struct attune_tensor* tensors, int32_t count,
                     const struct attune_call_options* options);

/* The place of memory on the device that the kernel runs on; 0 or, of a kernel of the CPU, -1. The name is the driver's, null for the CPU. */
int attune_device_of(const struct attune_kernel* kernel, struct attune_place* place);
const char* attune_device_name(const struct attune_kernel* kernel);

/* Memory there: for `data` of tensors. Copies are made behind the work that is in the stream (null as above), and waited for. */
void* attune_device_allocate(const struct attune_kernel* kernel, size_t bytes);
void attune_device_free(const struct attune_kernel* kernel, void* memory);
int attune_device_write(const struct attune_kernel* kernel, void* memory, const void* from, size_t bytes, void* stream);
int attune_device_read(const struct attune_kernel* kernel, const void* memory, void* to, size_t bytes, void* stream);

/* Merges two results of attention to different keys, each [.., value_depth] of f32, bf16 or f16 with the logarithms of what its softmax divided by, f32
   [..]: runtime/merge.h says how. The result may be one of the two. Names are not looked at. Gives 0 or -1. */
int attune_merge_partials(const struct attune_tensor* out_a, const struct attune_tensor* lse_a, const struct attune_tensor* out_b,
                          const struct attune_tensor* lse_b, const struct attune_tensor* out, const struct attune_tensor* lse);

/* Threads that a call uses at most, its caller included: 1 to 256. */
int attune_set_num_threads(int32_t count);
int32_t attune_num_threads(void);

/* The sentence of the last failure in this thread; empty if there was none. It stands until the next failure. */
const char* attune_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
