#include "tests/hostile/wrong_kernels.h"

#include <HalideRuntime.h>
#include <stddef.h>
#include <stdint.h>

static float* row(const halide_buffer_t* buffer, int r) { return (float*)buffer->host + (ptrdiff_t)r * buffer->dim[1].stride; }

/* The compiler may know that what follows is wrong: it shall do it all the same. */
static void set(volatile float* place, float value) { *place = value; }
static float get(const volatile float* place) { return *place; }

static void spoil_tensors(enum attune_wrong wrong, const halide_buffer_t* x, const halide_buffer_t* out) {
  const int columns = x->dim[0].extent, last = x->dim[1].extent - 1;
  float *first_x = row(x, 0), *first_out = row(out, 0), *last_x = row(x, last), *last_out = row(out, last);
  if (wrong == attune_reads_beyond) set(last_out, 2 * get(last_x) + 0 * get(last_x + columns));
  if (wrong == attune_reads_before) set(first_out, 2 * get(first_x) + 0 * get(first_x - 1));
  if (wrong == attune_writes_beyond) set(last_out + columns, 1);
  if (wrong == attune_writes_before) set(first_out - 1, 1);
  if (wrong == attune_writes_between_rows) set(first_out + columns, 1);
  if (wrong == attune_writes_to_its_input) set(first_x, get(first_x));
  if (wrong == attune_takes_placement_for_a_number) set(first_out, (float)((uintptr_t)first_x % 64));
}

static void spoil_scratch(enum attune_wrong wrong, float* scratch, int columns) {
  if (wrong == attune_writes_beyond_scratch) set(scratch + columns, 1);
  if (wrong == attune_writes_before_scratch) set(scratch - 1, 1);
  if (wrong == attune_writes_far_beyond_scratch) set(scratch + columns + 2048, 1);
}

static int twice(void** arguments, enum attune_wrong wrong) {
  const halide_buffer_t *x = arguments[1], *out = arguments[2];
  void* user_context = *(void**)arguments[0];
  const int columns = x->dim[0].extent;
  for (int r = 0; r < x->dim[1].extent; ++r) {
    float* scratch = halide_malloc(user_context, sizeof(float) * (size_t)columns);
    if (scratch == NULL) return halide_error_code_out_of_memory;
    for (int c = 0; c < columns; ++c)
      set(scratch + c, wrong == attune_takes_scratch_for_zeros ? get(scratch + c) + 2 * row(x, r)[c] : 2 * row(x, r)[c]);
    spoil_scratch(wrong, scratch, columns);
    const int skipped = wrong == attune_leaves_an_element && r == 0 ? 1 : 0;
    for (int c = skipped; c < columns; ++c) row(out, r)[c] = get(scratch + c);
    if (wrong != attune_keeps_scratch) halide_free(user_context, scratch);
    if (wrong == attune_uses_scratch_after_its_end) set(row(out, r), get(scratch));
  }
  spoil_tensors(wrong, x, out);
  return 0;
}

static int run_right(void** a) { return twice(a, attune_right); }
static int run_reads_beyond(void** a) { return twice(a, attune_reads_beyond); }
static int run_reads_before(void** a) { return twice(a, attune_reads_before); }
static int run_writes_beyond(void** a) { return twice(a, attune_writes_beyond); }
static int run_writes_before(void** a) { return twice(a, attune_writes_before); }
static int run_writes_between_rows(void** a) { return twice(a, attune_writes_between_rows); }
static int run_writes_to_its_input(void** a) { return twice(a, attune_writes_to_its_input); }
static int run_leaves_an_element(void** a) { return twice(a, attune_leaves_an_element); }
static int run_takes_placement(void** a) { return twice(a, attune_takes_placement_for_a_number); }
static int run_takes_scratch(void** a) { return twice(a, attune_takes_scratch_for_zeros); }
static int run_writes_beyond_scratch(void** a) { return twice(a, attune_writes_beyond_scratch); }
static int run_writes_before_scratch(void** a) { return twice(a, attune_writes_before_scratch); }
static int run_writes_far_beyond_scratch(void** a) { return twice(a, attune_writes_far_beyond_scratch); }
static int run_uses_scratch_after_its_end(void** a) { return twice(a, attune_uses_scratch_after_its_end); }
static int run_keeps_scratch(void** a) { return twice(a, attune_keeps_scratch); }

static const int32_t rows_columns[] = {0, 1};
static const struct attune_dim_v1 dims[] = {{"rows", attune_free, 0, NULL, 1}, {"columns", attune_free, 0, NULL, 1}};
static const struct attune_tensor_v1 tensors[] = {{"x", attune_f32, 0, 2, rows_columns}, {"out", attune_f32, 1, 2, rows_columns}};

static const struct attune_code_v3 codes[attune_wrong_count] = {
    {"any", "right", attune_cpu, 0, NULL, "", "", run_right, NULL},
    {"any", "reads_beyond", attune_cpu, 0, NULL, "", "", run_reads_beyond, NULL},
    {"any", "reads_before", attune_cpu, 0, NULL, "", "", run_reads_before, NULL},
    {"any", "writes_beyond", attune_cpu, 0, NULL, "", "", run_writes_beyond, NULL},
    {"any", "writes_before", attune_cpu, 0, NULL, "", "", run_writes_before, NULL},
    {"any", "writes_between_rows", attune_cpu, 0, NULL, "", "", run_writes_between_rows, NULL},
    {"any", "writes_to_its_input", attune_cpu, 0, NULL, "", "", run_writes_to_its_input, NULL},
    {"any", "leaves_an_element", attune_cpu, 0, NULL, "", "", run_leaves_an_element, NULL},
    {"any", "takes_placement_for_a_number", attune_cpu, 0, NULL, "", "", run_takes_placement, NULL},
    {"any", "takes_scratch_for_zeros", attune_cpu, 0, NULL, "", "", run_takes_scratch, NULL},
    {"any", "writes_beyond_scratch", attune_cpu, 0, NULL, "", "", run_writes_beyond_scratch, NULL},
    {"any", "writes_before_scratch", attune_cpu, 0, NULL, "", "", run_writes_before_scratch, NULL},
    {"any", "writes_far_beyond_scratch", attune_cpu, 0, NULL, "", "", run_writes_far_beyond_scratch, NULL},
    {"any", "uses_scratch_after_its_end", attune_cpu, 0, NULL, "", "", run_uses_scratch_after_its_end, NULL},
    {"any", "keeps_scratch", attune_cpu, 0, NULL, "", "", run_keeps_scratch, NULL},
};

const struct attune_kernel_v5* attune_wrong_kernel(enum attune_wrong wrong) {
  static const int32_t x_out[] = {0, 1};
  static struct attune_step_v1 steps[attune_wrong_count];
  static struct attune_kernel_v5 kernels[attune_wrong_count];
  steps[wrong] = (struct attune_step_v1){"by_hand", 1, 1, x_out, 0, 1, NULL, &codes[wrong]};
  kernels[wrong] = (struct attune_kernel_v5){
      ATTUNE_ABI_VERSION, codes[wrong].schedule, "twice", "", "0000000000000007", 2, 2, 0, 1, dims, tensors, &steps[wrong], 0, NULL, 0, NULL};
  return &kernels[wrong];
}
