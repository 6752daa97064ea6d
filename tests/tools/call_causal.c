/* call_causal BATCH HEADS QUERIES KEYS DEPTH q k v out: calls the kernel `causal` that is linked into it. The files hold f32 alone. */
#include <stdio.h>
#include <stdlib.h>

#include "causal.h"
#include "runtime/attune.h"

static size_t size_of(const int64_t* extents) {
  size_t size = 1;
  for (int i = 0; i < 4; ++i) size *= (size_t)extents[i];
  return size;
}

static int transfer(const char* path, const char* mode, float* elements, size_t count) {
  FILE* file = fopen(path, mode);
  if (!file) return 0;
  const size_t done = mode[0] == 'r' ? fread(elements, sizeof *elements, count, file) : fwrite(elements, sizeof *elements, count, file);
  return fclose(file) == 0 && done == count;
}

int main(int argc, char** argv) {
  if (argc != 10) return 2;
  int64_t e[5];
  for (int i = 0; i < 5; ++i) e[i] = atoll(argv[1 + i]);
  const int64_t queries[4] = {e[0], e[1], e[2], e[4]}, keys[4] = {e[0], e[1], e[3], e[4]};
  const int64_t* extents[4] = {queries, keys, keys, queries};
  struct attune_tensor tensors[4];
  for (int i = 0; i < 4; ++i) {
    float* elements = calloc(size_of(extents[i]) + 1, sizeof *elements);
    tensors[i] = (struct attune_tensor){.data = elements, .storage = attune_f32, .rank = 4, .extents = extents[i]};
    if (i < 3 && !transfer(argv[6 + i], "rb", elements, size_of(extents[i]))) return 2;
  }
  struct attune_library* library = attune_link(&attune_kernel_v5_causal);
  const struct attune_kernel* kernel = library ? attune_find_kernel(library, "causal") : NULL;
  if (!kernel || attune_call(kernel, tensors, 4) != 0) {
    fprintf(stderr, "%s\n", attune_last_error());
    return 1;
  }
  const int is_written = transfer(argv[9], "wb", tensors[3].data, size_of(queries));
  for (int i = 0; i < 4; ++i) free(tensors[i].data);
  attune_close(library);
  return is_written ? 0 : 2;
}
