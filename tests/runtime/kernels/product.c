/* The manifests of what make_product.cpp writes: for the CPU, and (PRODUCT_DEVICE) for another device. */
#include <stddef.h>

#include "tests/runtime/kernels/kernels.h"

#ifndef PRODUCT_DEVICE
#define PRODUCT_DEVICE attune_cpu
#endif

int product_argv(void** arguments);

static const int32_t rows_inner[] = {0, 1}, inner_columns[] = {1, 2}, rows_columns[] = {0, 2};
static const struct attune_dim_v1 dims[] = {
    {"rows", attune_free, 0, NULL, 1}, {"inner", attune_free, 0, NULL, 1}, {"columns", attune_free, 0, NULL, 1}};
static const struct attune_tensor_v1 tensors[] = {{"a", attune_f32, 0, 2, rows_inner},
                                                  {"b", attune_bf16, 0, 2, inner_columns},
                                                  {"keep", attune_boolean, 0, 1, rows_inner},
                                                  {"out", attune_f32, 1, 2, rows_columns}};
static const struct attune_code_v3 codes[] = {{"any", "Halide's", PRODUCT_DEVICE, 0, NULL, "", "", product_argv, NULL}};
ATTUNE_ONE_STEP(step, 3, 1, codes, 1);
const struct attune_kernel_v5 attune_kernel_v5_product = {
    ATTUNE_ABI_VERSION, "product", "product", "", "0000000000000005", 3, 4, 0, 1, dims, tensors, &step, 0, NULL, 0, NULL};
