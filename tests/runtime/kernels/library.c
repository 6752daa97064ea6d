/* The table that a shared file exports, with hooks into the Halide runtime that is linked into the file. */
#include <HalideRuntime.h>
#include <stddef.h>

#include "tests/runtime/kernels/kernels.h"

static void* set_do_par_for(void* loop) { return (void*)halide_set_custom_do_par_for((halide_do_par_for_t)loop); }
static void* set_malloc(void* allocate) { return (void*)halide_set_custom_malloc((halide_malloc_t)allocate); }
static void* set_free(void* release) { return (void*)halide_set_custom_free((halide_free_t)release); }
static void* set_error_handler(void* handler) { return (void*)halide_set_error_handler((halide_error_handler_t)handler); }

#ifdef ONLY_PRODUCT
static const struct attune_kernel_v3* const kernels[] = {&attune_kernel_v3_product};
#else
static const struct attune_kernel_v3* const kernels[] = {&attune_kernel_v3_add,      &attune_kernel_v3_linear, &attune_kernel_v3_formulas,
                                                         &attune_kernel_v3_storages, &attune_kernel_v3_choice, &attune_kernel_v3_elsewhere,
                                                         &attune_kernel_v3_refuses,  &attune_kernel_v3_steps};
#endif
const struct attune_library_v1 attune_library_v1 = {
    ATTUNE_ABI_VERSION, sizeof kernels / sizeof kernels[0], kernels, {set_do_par_for, set_malloc, set_free, set_error_handler}};
