// Opens a kernel file that the program knew nothing of when it was built: `attune compile causal --shared` makes one.
//   build/bin/03_load_at_run_time causal.so [DEVICE]

#include <cstdio>
#include <vector>

#include "runtime/library.h"

namespace {

using attune::Result;
using attune::Tensor;

/// Prints what the causal kernel of the file makes of six tokens, on a device or, where none is named, on the CPU.
Result<void> run(const char* path, const char* device) {
  // The file is checked before a byte of it runs: a truncated, damaged or newer one is refused in a sentence.
  const auto library = attune::Library::open(path);
  if (!library) return library.error();
  // The kernel keeps the file open. It holds code for several CPUs; the best one that this machine has was chosen.
  // On "opencl" it takes and gives memory of the CPU, too.
  const auto kernel = device == nullptr ? library->kernel("causal") : library->kernel("causal", device);
  if (!kernel) return kernel.error();
  std::printf("%s", kernel->describe().c_str());

  constexpr std::int64_t tokens = 6, depth = 16;
  const std::vector<float> zeros(tokens * depth);  // q = k = 0: every token that is seen has the same weight
  std::vector<float> values(tokens), out(2 * tokens);
  for (std::size_t j = 0; j < tokens; ++j) values[j] = static_cast<float>(j);
  // By name, in any order. Strides count elements; the stride 0 gives both heads the same memory.
  const std::vector<std::int64_t> strides = {0, 0, depth, 1};
  const auto done = (*kernel)({{"q", Tensor(zeros, {1, 2, tokens, depth}, strides)},
                               {"k", Tensor(zeros, {1, 2, tokens, depth}, strides)},
                               {"v", Tensor(values, {1, 2, tokens, 1}, {0, 0, 1, 1})},
                               {"out", Tensor(out, {1, 2, tokens, 1})}});
  if (!done) return done;
  for (std::size_t h = 0; h < 2; ++h) {
    std::printf("head %zu: the mean of 0 ... i is", h);
    for (std::size_t i = 0; i < tokens; ++i) std::printf(" %.1f", static_cast<double>(out[h * tokens + i]));
    std::printf("\n");
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "03_load_at_run_time: has %d arguments; a kernel file, and a device if not the CPU, are right\n", argc - 1);
    return 2;
  }
  if (const auto done = run(argv[1], argc == 3 ? argv[2] : nullptr); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
}
