#include <HalideRuntime.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/runtime/kernels/kernels.h"

static int formulas(void** arguments) {
  for (int t = 3; t <= 6; ++t) {
    const halide_buffer_t* out = arguments[t];
    for (int i = 0; i < out->dim[0].extent; ++i) ((int32_t*)out->host)[i] = out->dim[0].extent;
  }
  return 0;
}

static int storages(void** arguments) {
  int32_t* codes = (int32_t*)((halide_buffer_t*)arguments[10])->host;
  for (int t = 0; t < 9; ++t) {
    const halide_buffer_t* scalar = arguments[1 + t];
    codes[t] = scalar->dimensions == 0 ? 256 * scalar->type.code + scalar->type.bits : -1;
  }
  return 0;
}

static int write_number(void** arguments, int number) {
  *(int32_t*)((halide_buffer_t*)arguments[2])->host = number;
  return 0;
}
static int first(void** arguments) { return write_number(arguments, 1); }
static int second(void** arguments) { return write_number(arguments, 2); }
static int third(void** arguments) { return write_number(arguments, 3); }

enum { heads, depth, keys, four, model, all, half, renamed };
static const int32_t heads_depth[] = {heads, depth}, keys_four[] = {keys, four}, heads_keys[] = {heads, keys};
static const int32_t one_dim[] = {heads, depth, keys, four, model, all, half, renamed};
static const struct attune_dim_v1 formula_dims[] = {{"heads", attune_free, 0, NULL, 1},
                                                    {"depth", attune_free, 0, NULL, 1},
                                                    {"keys", attune_free, 0, NULL, 1},
                                                    {"four", attune_fixed, 0, NULL, 4},
                                                    {"model", attune_product, 2, heads_depth, 2},
                                                    {"all", attune_sum, 2, heads_keys, 1},
                                                    {"half", attune_quotient, 1, &one_dim[depth], 2},
                                                    {"renamed", attune_product, 1, &one_dim[heads], 1}};
static const struct attune_tensor_v1 formula_tensors[] = {
    {"x", attune_i32, 0, 2, heads_depth},     {"y", attune_i32, 0, 2, keys_four},         {"joined", attune_i32, 1, 1, &one_dim[model]},
    {"all", attune_i32, 1, 1, &one_dim[all]}, {"half", attune_i32, 1, 1, &one_dim[half]}, {"alias", attune_i32, 1, 1, &one_dim[renamed]}};
static const struct attune_code_v3 formula_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", formulas, NULL}};
ATTUNE_ONE_STEP(formula_step, 2, 4, formula_codes, 1);
const struct attune_kernel_v5 attune_kernel_v5_formulas = {
    ATTUNE_ABI_VERSION, "formulas", "formulas", "", "0000000000000001", 8, 6, 0, 1, formula_dims, formula_tensors, &formula_step, 0, NULL, 0, NULL};

static const struct attune_dim_v1 nine[] = {{"nine", attune_fixed, 0, NULL, 9}};
static const struct attune_tensor_v1 storage_tensors[] = {{"f32", attune_f32, 0, 0, NULL},         {"bf16", attune_bf16, 0, 0, NULL},
                                                          {"f16", attune_f16, 0, 0, NULL},         {"f64", attune_f64, 0, 0, NULL},
                                                          {"i8", attune_i8, 0, 0, NULL},           {"u8", attune_u8, 0, 0, NULL},
                                                          {"i32", attune_i32, 0, 0, NULL},         {"i64", attune_i64, 0, 0, NULL},
                                                          {"boolean", attune_boolean, 0, 0, NULL}, {"codes", attune_i32, 1, 1, one_dim}};
static const struct attune_code_v3 storage_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", storages, NULL}};
ATTUNE_ONE_STEP(storage_step, 9, 1, storage_codes, 1);
const struct attune_kernel_v5 attune_kernel_v5_storages = {
    ATTUNE_ABI_VERSION, "storages", "storages", "", "0000000000000002", 1, 10, 0, 1, nine, storage_tensors, &storage_step, 0, NULL, 0, NULL};

static const struct attune_dim_v1 rows[] = {{"rows", attune_free, 0, NULL, 1}};
static const struct attune_condition_v1 few = {0, 0, 8}, more = {0, 9, 16};
static const struct attune_tensor_v1 choice_tensors[] = {{"x", attune_f32, 0, 1, one_dim}, {"out", attune_i32, 1, 0, NULL}};
static const struct attune_code_v3 choice_codes[] = {{"warp", "never", attune_cpu, 0, NULL, "warp_drive", "", first, NULL},
                                                     {"small", "few rows", attune_cpu, 1, &few, "", "", second, NULL},
                                                     {"large", "more rows", attune_cpu, 1, &more, "", "", third, NULL}};
ATTUNE_ONE_STEP(choice_step, 1, 1, choice_codes, 3);
const struct attune_kernel_v5 attune_kernel_v5_choice = {
    ATTUNE_ABI_VERSION, "choice", "choice", "", "0000000000000003", 1, 2, 0, 1, rows, choice_tensors, &choice_step, 0, NULL, 0, NULL};
ATTUNE_ONE_STEP(elsewhere_step, 1, 1, choice_codes, 1);
const struct attune_kernel_v5 attune_kernel_v5_elsewhere = {
    ATTUNE_ABI_VERSION, "elsewhere", "choice", "", "0000000000000004", 1, 2, 0, 1, rows, choice_tensors, &elsewhere_step, 0, NULL, 0, NULL};
