#include <HalideRuntime.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/runtime/kernels/kernels.h"

static float* row(const halide_buffer_t* buffer, int r) { return (float*)buffer->host + (ptrdiff_t)r * buffer->dim[1].stride; }
static int extent(void** arguments, int place) { return *(const int32_t*)arguments[place]; }

/* Takes scratch memory, as stages do. */
static int raise(void** arguments) {
  const halide_buffer_t *x = arguments[1], *raised = arguments[4];
  const int rows = extent(arguments, 2), columns = extent(arguments, 3);
  void* user_context = *(void**)arguments[0];
  float* scratch = halide_malloc(user_context, sizeof(float) * (size_t)columns);
  if (scratch == NULL) return halide_error_code_out_of_memory;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) scratch[c] = row(x, r)[c];
    for (int c = 0; c < columns; ++c) row(raised, r)[c] = scratch[c] + 1;
  }
  halide_free(user_context, scratch);
  return 0;
}

static int add_up(void** arguments) {
  const halide_buffer_t *raised = arguments[1], *total = arguments[4];
  float sum = 0;
  for (int r = 0; r < extent(arguments, 2); ++r)
    for (int c = 0; c < extent(arguments, 3); ++c) sum += row(raised, r)[c];
  *(float*)total->host = sum;
  return 0;
}

static int multiply(void** arguments) {
  const halide_buffer_t *raised = arguments[1], *total = arguments[2], *out = arguments[5], *extents = arguments[6];
  const int rows = extent(arguments, 3), columns = extent(arguments, 4);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) row(out, r)[c] = row(raised, r)[c] * *(const float*)total->host;
  ((int32_t*)extents->host)[0] = rows;
  ((int32_t*)extents->host)[1] = columns;
  return 0;
}

static const int32_t rows_columns[] = {0, 1}, two[] = {2};
static const struct attune_dim_v1 dims[] = {
    {"rows", attune_free, 0, NULL, 1}, {"columns", attune_free, 0, NULL, 1}, {"two", attune_fixed, 0, NULL, 2}};
static const struct attune_tensor_v1 tensors[] = {{"x", attune_f32, 0, 2, rows_columns},
                                                  {"out", attune_f32, 1, 2, rows_columns},
                                                  {"extents", attune_i32, 1, 1, two},
                                                  {"raised", attune_f32, 0, 2, rows_columns},
                                                  {"total", attune_f32, 0, 0, NULL}};
static const struct attune_code_v3 raise_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", raise, NULL}},
                                   add_up_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", add_up, NULL}},
                                   multiply_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", multiply, NULL}};
static const int32_t x_raised[] = {0, 3}, raised_total[] = {3, 4}, raised_total_out_extents[] = {3, 4, 1, 2};
static const struct attune_step_v1 steps[] = {{"raise", 1, 1, x_raised, 2, 1, rows_columns, raise_codes},
                                              {"add_up", 1, 1, raised_total, 2, 1, rows_columns, add_up_codes},
                                              {"multiply", 2, 2, raised_total_out_extents, 2, 1, rows_columns, multiply_codes}};
const struct attune_kernel_v4 attune_kernel_v4_steps = {ATTUNE_ABI_VERSION, "steps", "steps", "", "0000000000000008", 3, 3, 2, 3, dims, tensors, steps, 0, NULL};

/* joined and x have [rows x heads x depth] and [heads x rows x depth]. */
static float* part(const halide_buffer_t* buffer, int outer, int middle, int inner) {
  return (float*)buffer->host + (ptrdiff_t)outer * buffer->dim[2].stride + (ptrdiff_t)middle * buffer->dim[1].stride + (ptrdiff_t)inner * buffer->dim[0].stride;
}

static int join(void** arguments) {
  const halide_buffer_t *x = arguments[1], *joined = arguments[2];
  if (joined->dimensions != 3) return -1;
  for (int r = 0; r < joined->dim[2].extent; ++r)
    for (int h = 0; h < joined->dim[1].extent; ++h)
      for (int d = 0; d < joined->dim[0].extent; ++d) *part(joined, r, h, d) = *part(x, h, r, d) + 1;
  return 0;
}

static int add_up_parts(void** arguments) {
  const halide_buffer_t *joined = arguments[1], *totals = arguments[2];
  if (joined->dimensions != 3) return -1;
  for (int r = 0; r < joined->dim[2].extent; ++r) {
    float* total = (float*)totals->host + r;
    *total = 0;
    for (int h = 0; h < joined->dim[1].extent; ++h)
      for (int d = 0; d < joined->dim[0].extent; ++d) *total += *part(joined, r, h, d);
  }
  return 0;
}

static const int32_t heads_rows_depth[] = {1, 0, 2}, rows_model[] = {0, 3}, rows_alone[] = {0}, rows_heads_depth[] = {0, 1, 2}, heads_depth[] = {1, 2}, one_two[] = {1, 2};
static const struct attune_dim_v1 parts_dims[] = {{"rows", attune_free, 0, NULL, 1},
                                                  {"heads", attune_free, 0, NULL, 1},
                                                  {"depth", attune_free, 0, NULL, 1},
                                                  {"model", attune_product, 2, heads_depth, 1}};
static const struct attune_tensor_v1 parts_tensors[] = {
    {"x", attune_f32, 0, 3, heads_rows_depth}, {"joined", attune_f32, 1, 2, rows_model}, {"totals", attune_f32, 1, 1, rows_alone}};
static const struct attune_view_v1 parts_views[] = {{1, 3, rows_heads_depth, one_two}};
static const struct attune_code_v3 join_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", join, NULL}},
                                   add_up_parts_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", add_up_parts, NULL}};
static const int32_t x_parts[] = {0, 3}, parts_totals[] = {3, 2};
static const struct attune_step_v1 parts_steps[] = {{"join", 1, 1, x_parts, 0, 1, NULL, join_codes},
                                                    {"add_up", 1, 1, parts_totals, 0, 1, NULL, add_up_parts_codes}};
const struct attune_kernel_v4 attune_kernel_v4_parts = {
    ATTUNE_ABI_VERSION, "parts", "parts", "", "0000000000000009", 4, 3, 0, 2, parts_dims, parts_tensors, parts_steps, 1, parts_views};
