#include <HalideRuntime.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/runtime/kernels/kernels.h"

/* The first element of row r; dim[0] is the innermost, with stride 1. */
static float* row(const halide_buffer_t* buffer, int r) { return (float*)buffer->host + (ptrdiff_t)r * buffer->dim[1].stride; }

static void* user_context_of(void** arguments) { return *(void**)arguments[0]; }

static int add(void** arguments) {
  const halide_buffer_t *a = arguments[1], *b = arguments[2], *out = arguments[3];
  for (int r = 0; r < out->dim[1].extent; ++r)
    for (int c = 0; c < out->dim[0].extent; ++c) row(out, r)[c] = row(a, r)[c] + row(b, r)[c];
  return 0;
}

static int accumulate(void** arguments) {
  const halide_buffer_t *x = arguments[2], *total = arguments[3];
  for (int r = 0; r < total->dim[1].extent; ++r)
    for (int c = 0; c < total->dim[0].extent; ++c) row(total, r)[c] += row(x, r)[c];
  return 0;
}

/* Where nothing is summed, the term of clamped indices is read all the same: it is 0. */
static int linear_row(void* user_context, int r, uint8_t* closure) {
  void** arguments = (void**)closure;
  const halide_buffer_t *a = arguments[1], *b = arguments[2], *bias = arguments[3], *out = arguments[4];
  const int columns = out->dim[0].extent;
  float* sums = halide_malloc(user_context, sizeof(float) * (size_t)columns);
  if (sums == NULL) return halide_error_code_out_of_memory;
  for (int c = 0; c < columns; ++c) sums[c] = ((float*)bias->host)[c];
  const int terms = b->dim[1].extent > 0 ? b->dim[1].extent : 1;
  for (int i = 0; i < terms; ++i)
    for (int c = 0; c < columns; ++c) sums[c] += row(a, r)[i] * row(b, i)[c];
  for (int c = 0; c < columns; ++c) row(out, r)[c] = sums[c];
  halide_free(user_context, sums);
  return 0;
}

static int linear(void** arguments) {
  const halide_buffer_t* out = arguments[4];
  return halide_do_par_for(user_context_of(arguments), linear_row, 0, out->dim[1].extent, (uint8_t*)arguments);
}

static int refuse_negative(void* user_context, int n, uint8_t* closure) {
  const halide_buffer_t* x = ((void**)closure)[1];
  if (((float*)x->host)[n] >= 0) return 0;
  char message[] = "row 0 is negative.\n";
  message[4] = (char)('0' + n);
  halide_error(user_context, message);
  return -1;
}

static int refuses(void** arguments) {
  const halide_buffer_t* x = arguments[1];
  for (int n = 0; n < x->dim[0].extent; ++n) *(float*)((halide_buffer_t*)arguments[2])->host = (float)n;
  return halide_do_par_for(user_context_of(arguments), refuse_negative, 0, x->dim[0].extent, (uint8_t*)arguments);
}

static const int32_t numbers[] = {0, 1, 2};
static const int32_t rows_inner[] = {0, 1}, inner_columns[] = {1, 2}, rows_columns[] = {0, 2};

static const struct attune_dim_v1 add_dims[] = {{"rows", attune_free, 0, NULL, 1}, {"columns", attune_free, 0, NULL, 1}};
static const struct attune_tensor_v1 add_tensors[] = {
    {"a", attune_f32, 0, 2, numbers}, {"b", attune_f32, 0, 2, numbers}, {"out", attune_f32, 1, 2, numbers}};
static const struct attune_code_v3 add_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", add, NULL}};
ATTUNE_ONE_STEP(add_step, 2, 1, add_codes, 1);
const struct attune_kernel_v5 attune_kernel_v5_add = {
    ATTUNE_ABI_VERSION, "add", "sum_of_two", "", "0123456789abcdef", 2, 3, 0, 1, add_dims, add_tensors, &add_step, 0, NULL, 0, NULL};

static const struct attune_tensor_v1 accumulate_tensors[] = {{"total", attune_f32, attune_updated, 2, numbers}, {"x", attune_f32, attune_input, 2, numbers}};
static const struct attune_code_v3 accumulate_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", accumulate, NULL}};
static const int32_t accumulate_order[] = {0, 1, 0};
static const struct attune_step_v1 accumulate_step = {"by_hand", 2, 1, accumulate_order, 0, 1, NULL, accumulate_codes};
const struct attune_kernel_v5 attune_kernel_v5_accumulate = {
    ATTUNE_ABI_VERSION, "accumulate", "accumulate", "", "00000000000000fe", 2, 2, 0, 1, add_dims, accumulate_tensors, &accumulate_step, 0, NULL, 0, NULL};

static const struct attune_dim_v1 linear_dims[] = {
    {"rows", attune_free, 0, NULL, 1}, {"inner", attune_free, 0, NULL, 1}, {"columns", attune_free, 0, NULL, 1}};
static const struct attune_tensor_v1 linear_tensors[] = {{"a", attune_f32, 0, 2, rows_inner},
                                                         {"b", attune_f32, 0, 2, inner_columns},
                                                         {"bias", attune_f32, 0, 1, &numbers[2]},
                                                         {"out", attune_f32, 1, 2, rows_columns}};
static const struct attune_code_v3 linear_codes[] = {{"any", "a task for each row", attune_cpu, 0, NULL, "", "", linear, NULL}};
ATTUNE_ONE_STEP(linear_step, 3, 1, linear_codes, 1);
const struct attune_kernel_v5 attune_kernel_v5_linear = {
    ATTUNE_ABI_VERSION, "linear", "linear", "bias=1", "fedcba9876543210", 3, 4, 0, 1, linear_dims, linear_tensors, &linear_step, 0, NULL, 0, NULL};

static const struct attune_tensor_v1 refuses_tensors[] = {{"x", attune_f32, 0, 1, numbers}, {"out", attune_f32, 1, 0, NULL}};
static const struct attune_code_v3 refuses_codes[] = {{"any", "a task for each element", attune_cpu, 0, NULL, "", "", refuses, NULL}};
ATTUNE_ONE_STEP(refuses_step, 1, 1, refuses_codes, 1);
const struct attune_kernel_v5 attune_kernel_v5_refuses = {
    ATTUNE_ABI_VERSION, "refuses", "refuses", "", "00000000000000ff", 1, 2, 0, 1, add_dims, refuses_tensors, &refuses_step, 0, NULL, 0, NULL};
