/* Names that LLVM's thread sanitizer has and GCC's has not: Halide's runtime under the sanitizer asks for them. */
#include <string.h>

void* __tsan_memcpy(void* to, const void* from, size_t bytes);
void* __tsan_memmove(void* to, const void* from, size_t bytes);
void* __tsan_memset(void* to, int value, size_t bytes);

void* __tsan_memcpy(void* to, const void* from, size_t bytes) { return memcpy(to, from, bytes); }
void* __tsan_memmove(void* to, const void* from, size_t bytes) { return memmove(to, from, bytes); }
void* __tsan_memset(void* to, int value, size_t bytes) { return memset(to, value, bytes); }
