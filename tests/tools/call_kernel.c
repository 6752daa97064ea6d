/* call_kernel KERNEL.so NAME TENSOR...: opens the file and calls its kernel. A tensor is five words or more: in or out, its name, the file that holds
   its elements or gets them, its storage as a number of runtime/abi.h, its rank, and its extents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/attune.h"

enum { most_tensors = 16, most_dims = 8 };

static size_t bytes_of(int storage) {
  switch (storage) {
    case attune_f32: return 4;
    case attune_bf16:
    case attune_f16: return 2;
    case attune_i64: return 8;
    case attune_boolean: return 1;
    default: return 0;
  }
}

static int transfer(const char* path, const char* mode, void* elements, size_t bytes) {
  FILE* file = fopen(path, mode);
  if (!file) return 0;
  const size_t done = mode[0] == 'r' ? fread(elements, 1, bytes, file) : fwrite(elements, 1, bytes, file);
  return fclose(file) == 0 && done == bytes;
}

int main(int argc, char** argv) {
  static struct attune_tensor tensors[most_tensors];
  static int64_t extents[most_tensors][most_dims];
  static const char* written[most_tensors];
  static size_t bytes[most_tensors];
  int count = 0;
  for (int at = 3; at < argc; ++count) {
    if (argc - at < 5 || count == most_tensors) return 2;
    struct attune_tensor* tensor = &tensors[count];
    tensor->name = argv[at + 1];
    tensor->storage = atoi(argv[at + 3]);
    tensor->rank = atoi(argv[at + 4]);
    tensor->extents = extents[count];
    if (tensor->rank < 0 || tensor->rank > most_dims || argc - at - 5 < tensor->rank) return 2;
    bytes[count] = bytes_of(tensor->storage);
    for (int i = 0; i < tensor->rank; ++i) bytes[count] *= (size_t)(extents[count][i] = atoll(argv[at + 5 + i]));
    tensor->data = malloc(bytes[count] + 1);
    if (!tensor->data || bytes_of(tensor->storage) == 0) return 2;
    if (strcmp(argv[at], "out") == 0) {
      written[count] = argv[at + 2];
      memset(tensor->data, 0x5d, bytes[count]); /* what is not written shows */
    } else if (!transfer(argv[at + 2], "rb", tensor->data, bytes[count])) {
      return 2;
    }
    at += 5 + tensor->rank;
  }
  struct attune_library* library = argc < 3 ? NULL : attune_open(argv[1]);
  const struct attune_kernel* kernel = library ? attune_find_kernel(library, argv[2]) : NULL;
  if (!kernel || attune_call(kernel, tensors, count) != 0) {
    fprintf(stderr, "%s\n", attune_last_error());
    return 1;
  }
  int is_written = 1;
  for (int i = 0; i < count; ++i) {
    if (written[i]) is_written &= transfer(written[i], "wb", tensors[i].data, bytes[i]);
    free(tensors[i].data);
  }
  attune_close(library);
  return is_written ? 0 : 2;
}
