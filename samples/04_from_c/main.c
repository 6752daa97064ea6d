/* The same kernel file from C: runtime/attune.h and libattune_rt.so are all that is needed.
     build/bin/04_from_c causal.so [DEVICE] */

#include <stdio.h>

#include "runtime/attune.h"

enum { tokens = 6, depth = 16 };

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "04_from_c: has %d arguments; a kernel file, and a device if not the CPU, are right\n", argc - 1);
    return 2;
  }
  /* What fails gives null or -1, and attune_last_error() says why in a sentence. */
  struct attune_library* library = attune_open(argv[1]);
  const struct attune_kernel* kernel = NULL;
  if (library) kernel = argc == 3 ? attune_find_kernel_on(library, "causal", argv[2]) : attune_find_kernel(library, "causal");
  if (!kernel) {
    fprintf(stderr, "%s\n", attune_last_error());
    attune_close(library);
    return 1;
  }
  static float q[tokens * depth], k[tokens * depth], v[tokens], out[tokens];
  for (int j = 0; j < tokens; ++j) v[j] = (float)j;

  /* [batch, heads, queries or keys, depth]; strides null: without gaps. */
  const int64_t wide[4] = {1, 1, tokens, depth}, narrow[4] = {1, 1, tokens, 1};
  const struct attune_tensor tensors[4] = {
      {.name = "q", .data = q, .storage = attune_f32, .rank = 4, .extents = wide},
      {.name = "k", .data = k, .storage = attune_f32, .rank = 4, .extents = wide},
      {.name = "v", .data = v, .storage = attune_f32, .rank = 4, .extents = narrow},
      {.name = "out", .data = out, .storage = attune_f32, .rank = 4, .extents = narrow},
  };
  const int status = attune_call(kernel, tensors, 4);
  if (status == 0) {
    printf("the mean of 0 ... i is");
    for (int i = 0; i < tokens; ++i) printf(" %.1f", (double)out[i]);
    printf("\n");
  } else {
    fprintf(stderr, "%s\n", attune_last_error());
  }
  attune_close(library);
  return status == 0 ? 0 : 1;
}
