/* The table that a shared file exports, with hooks into the Halide runtime that is linked into the file. */
#include <HalideRuntime.h>
#include <stddef.h>

#include "tests/runtime/kernels/kernels.h"

static void* set_do_par_for(void* loop) { return (void*)halide_set_custom_do_par_for((halide_do_par_for_t)loop); }
static void* set_malloc(void* allocate) { return (void*)halide_set_custom_malloc((halide_malloc_t)allocate); }
static void* set_free(void* release) { return (void*)halide_set_custom_free((halide_free_t)release); }
static void* set_error_handler(void* handler) { return (void*)halide_set_error_handler((halide_error_handler_t)handler); }

#ifdef FOR_OPENCL
#include <HalideRuntimeOpenCL.h>
#include <stdbool.h>

/* The Halide runtime for OpenCL has no setter for this, but its own function is weak. */
static int (*opencl_context)(void*, void**, void**, bool);
int halide_acquire_cl_context(void* user_context, void** context, void** queue, bool is_to_be_made);
int halide_acquire_cl_context(void* user_context, void** context, void** queue, bool is_to_be_made) {
  return opencl_context(user_context, context, queue, is_to_be_made);
}
static void* set_opencl_context(void* function) {
  void* before = (void*)opencl_context;
  opencl_context = (int (*)(void*, void**, void**, bool))function;
  return before;
}
#define OPENCL_HOOKS set_opencl_context, halide_opencl_device_interface
#else
#define OPENCL_HOOKS NULL, NULL
#endif

#ifdef ONLY_PRODUCT
static const struct attune_kernel_v5* const kernels[] = {&attune_kernel_v5_product};
#else
static const struct attune_kernel_v5* const kernels[] = {&attune_kernel_v5_add,      &attune_kernel_v5_linear, &attune_kernel_v5_formulas,
                                                         &attune_kernel_v5_storages, &attune_kernel_v5_choice, &attune_kernel_v5_elsewhere,
                                                         &attune_kernel_v5_refuses,  &attune_kernel_v5_steps};
#endif
const struct attune_library_v1 attune_library_v1 = {
    ATTUNE_ABI_VERSION, sizeof kernels / sizeof kernels[0], kernels, {set_do_par_for, set_malloc, set_free, set_error_handler, NULL, NULL, NULL, OPENCL_HOOKS}};
