/* from_c KERNELS.SO: the runtime from a C program; exit status 0 if everything came out. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/attune.h"

static int expect(int is_true, const char* what) {
  if (!is_true) fprintf(stderr, "from_c: not true: %s; the last error is: %s\n", what, attune_last_error());
  return is_true;
}

static int expect_error(const char* sentence) {
  if (strcmp(attune_last_error(), sentence) == 0) return 1;
  fprintf(stderr, "from_c: got the error: %s\nexpected: %s\n", attune_last_error(), sentence);
  return 0;
}

static int check_call(const struct attune_kernel* linear) {
  const float a[] = {1, 2, 3, 4}, b[] = {1, 0, 0, 1}, bias[] = {10, 20};
  float out[4] = {0};
  const int64_t square[] = {2, 2}, transposed[] = {1, 2}, two[] = {2};
  struct attune_tensor tensors[] = {{NULL, (void*)a, attune_f32, 2, square, NULL},
                                    {NULL, (void*)b, attune_f32, 2, square, NULL},
                                    {NULL, (void*)bias, attune_f32, 1, two, NULL},
                                    {NULL, out, attune_f32, 2, square, NULL}};
  if (!expect(attune_call(linear, tensors, 4) == 0, "a call by order")) return 0;
  if (!expect(out[0] == 11 && out[1] == 22 && out[2] == 13 && out[3] == 24, "its result")) return 0;
  tensors[0].name = "a", tensors[1].name = "b", tensors[2].name = "bias", tensors[3].name = "out";
  memset(out, 0, sizeof out);
  size_t needed = 0;
  if (!expect(attune_call_with_workspace(linear, tensors, 4, NULL, 0, &needed) == 0, "a measuring call by name")) return 0;
  if (!expect(out[3] == 24 && needed > 0, "its result and bytes")) return 0;
  char memory[64];
  if (!expect(attune_call_with_workspace(linear, tensors, 4, memory, sizeof memory, NULL) == -1, "a call with too little memory")) return 0;
  tensors[0].strides = transposed;
  if (!expect(attune_call(linear, tensors, 4) == -1, "a call with transposed memory")) return 0;
  if (!expect_error("kernel 'linear': input 'a' has stride 2 along inner, its innermost dim; expected 1 (contiguous() makes such a copy)"))
    return 0;
  tensors[1].name = NULL;
  if (!expect(attune_call(linear, tensors, 4) == -1, "a call with a name missing")) return 0;
  if (!expect_error("attune_call: 3 of 4 tensors have names; expected all of them, or none")) return 0;
  tensors[1].name = "b", tensors[1].storage = 9;
  if (!expect(attune_call(linear, tensors, 4) == -1, "a call with an unknown storage")) return 0;
  if (!expect_error("tensor 'b': has the unknown storage 9; those of abi.h are 0 to 8")) return 0;
  return expect(attune_call(linear, NULL, 4) == -1, "a call without a table") &&
         expect_error("attune_call: got a null table of 4 tensors; expected 0 to 64");
}

static int check_devices(const struct attune_library* library) {
  const struct attune_kernel* choice = attune_find_kernel(library, "choice");
  if (!expect(attune_target_count(choice) == 3 && strcmp(attune_target_name(choice, 2), "large") == 0, "it has three targets")) return 0;
  if (!expect(strcmp(attune_target_problem(choice, 0), "warp_drive") == 0 && strcmp(attune_target_problem(choice, 1), "") == 0,
              "of which the first cannot run"))
    return 0;
  if (!expect(attune_target_name(choice, 3) == NULL && attune_target_problem(choice, -1) == NULL && attune_target_count(NULL) == 0,
              "and no fourth"))
    return 0;
  const struct attune_kernel* large = attune_find_kernel_on(library, "choice", "large");
  if (!expect(large != NULL && large != choice && large == attune_find_kernel_on(library, "choice", "large"), "one of them is found")) return 0;
  float x[8] = {0};
  int32_t chosen = 0;
  const int64_t rows[] = {8};
  const struct attune_tensor tensors[] = {{NULL, x, attune_f32, 1, rows, NULL}, {NULL, &chosen, attune_i32, 0, NULL, NULL}};
  if (!expect(attune_call(choice, tensors, 2) == 0 && chosen == 2, "all of them take 8 rows")) return 0;
  if (!expect(attune_call(large, tensors, 2) == -1, "the large one does not")) return 0;
  if (!expect(attune_find_kernel_on(library, "choice", "cuda") == NULL, "what it does not hold is refused")) return 0;
  if (!expect_error("kernel 'choice': holds no code for 'cuda'; it holds warp (cpu), small (cpu), large (cpu)")) return 0;
  return expect(attune_find_kernel_on(library, "choice", NULL) == NULL, "and so is no name") &&
         expect_error("attune_find_kernel_on: the library, the name or the device is null");
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (!expect(strcmp(attune_last_error(), "") == 0, "there is no error at first")) return 1;
  if (!expect(attune_open("/nowhere.so") == NULL, "a missing file is refused")) return 1;
  if (!expect_error("kernel file '/nowhere.so': cannot be read: No such file or directory")) return 1;
  if (!expect(attune_open_expected(argv[1], "abc") == NULL && strstr(attune_last_error(), "the expected SHA-256 is 'abc'") != NULL,
              "no sum is refused"))
    return 1;
  struct attune_library* library = attune_open(argv[1]);
  if (!expect(library != NULL, "the file opens")) return 1;
  if (!expect(attune_kernel_count(library) == 8 && strcmp(attune_kernel_name(library, 1), "linear") == 0, "it has eight kernels")) return 1;
  if (!expect(attune_kernel_name(library, 8) == NULL, "and no ninth")) return 1;
  if (!expect(attune_find_kernel(library, "none") == NULL, "an unknown kernel is refused")) return 1;
  const struct attune_kernel* linear = attune_find_kernel(library, "linear");
  if (!expect(linear != NULL && attune_manifest(linear)->tensor_count == 4, "linear is found")) return 1;
  if (!expect(strstr(attune_describe(linear), "input  bias: f32 [columns]") != NULL, "it describes itself")) return 1;
  if (!expect(attune_set_num_threads(2) == 0 && attune_num_threads() == 2, "threads are set")) return 1;
  if (!expect(attune_set_num_threads(0) == -1, "no threads are refused")) return 1;
  if (!check_call(linear)) return 1;
  if (!check_devices(library)) return 1;
  attune_close(library);
  attune_close(NULL);
  return 0;
}
