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
const struct attune_kernel_v5 attune_kernel_v5_steps = {ATTUNE_ABI_VERSION, "steps", "steps", "", "0000000000000008", 3, 3, 2, 3, dims, tensors, steps, 0, NULL, 0, NULL};

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
const struct attune_kernel_v5 attune_kernel_v5_parts = {
    ATTUNE_ABI_VERSION, "parts", "parts", "", "0000000000000009", 4, 3, 0, 2, parts_dims, parts_tensors, parts_steps, 1, parts_views, 0, NULL};

/* out[b, r, c] = 2 x[b, r, c] + the number of the row, in blocks of batch and rows. */
int swept_calls = 0;

static float* element(const halide_buffer_t* buffer, int b, int r, int c) {
  return (float*)buffer->host + (ptrdiff_t)b * buffer->dim[2].stride + (ptrdiff_t)r * buffer->dim[1].stride + (ptrdiff_t)c * buffer->dim[0].stride;
}

static int double_rows(void** arguments) {
  const halide_buffer_t *x = arguments[1], *doubled = arguments[4];
  const int batch = extent(arguments, 2), rows = extent(arguments, 3);
  if (x->dim[2].extent != batch || doubled->dim[2].extent != batch || x->dim[1].extent != rows || doubled->dim[1].extent != rows) return -1;
  for (int b = 0; b < batch; ++b)
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < x->dim[0].extent; ++c) *element(doubled, b, r, c) = 2 * *element(x, b, r, c);
  return 0;
}

static int number_rows(void** arguments) {
  const halide_buffer_t *doubled = arguments[1], *out = arguments[3];
  const int start = extent(arguments, 2);
  ++swept_calls;
  for (int b = 0; b < out->dim[2].extent; ++b)
    for (int r = 0; r < out->dim[1].extent; ++r)
      for (int c = 0; c < out->dim[0].extent; ++c) *element(out, b, r, c) = *element(doubled, b, r, c) + (float)(start + r);
  return 0;
}

enum { batch, rows, columns, batch_block, batch_start, rows_block, rows_start };
static const int32_t of_batch[] = {batch}, of_rows[] = {rows}, of_batch_block[] = {batch_block}, of_rows_block[] = {rows_block},
                     batch_rows_columns[] = {batch, rows, columns}, in_blocks[] = {batch_block, rows_block, columns}, one_each[] = {1, 1, 1},
                     blocks[] = {batch_block, rows_block}, starts[] = {batch_start, rows_start}, row_start[] = {rows_start};
static const struct attune_dim_v1 swept_dims[] = {{"batch", attune_free, 0, NULL, 1},
                                                  {"rows", attune_free, 0, NULL, 1},
                                                  {"columns", attune_free, 0, NULL, 1},
                                                  {"batch_block", attune_block, 1, of_batch, 1},
                                                  {"batch_start", attune_start, 1, of_batch_block, 1},
                                                  {"rows_block", attune_block, 1, of_rows, 64},
                                                  {"rows_start", attune_start, 1, of_rows_block, 1}};
static const struct attune_tensor_v1 swept_tensors[] = {
    {"x", attune_f32, 0, 3, batch_rows_columns}, {"out", attune_f32, 1, 3, batch_rows_columns}, {"doubled", attune_f32, 0, 3, in_blocks}};
static const struct attune_view_v1 swept_views[] = {{0, 3, in_blocks, one_each}, {1, 3, in_blocks, one_each}};
static const struct attune_code_v3 double_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", double_rows, NULL}},
                                   number_codes[] = {{"any", "loops", attune_cpu, 0, NULL, "", "", number_rows, NULL}};
static const int32_t x_doubled[] = {3, 2}, doubled_out[] = {2, 4};
static const struct attune_step_v1 swept_steps[] = {{"double", 1, 1, x_doubled, 2, 1, blocks, double_codes},
                                                    {"number", 1, 1, doubled_out, 1, 1, row_start, number_codes}};
static const struct attune_sweep_v1 sweeps[] = {{0, 2, 2, blocks, starts}};
const struct attune_kernel_v5 attune_kernel_v5_swept = {
    ATTUNE_ABI_VERSION, "swept", "swept", "", "000000000000000a", 7, 2, 1, 2, swept_dims, swept_tensors, swept_steps, 2, swept_views, 1, sweeps};
