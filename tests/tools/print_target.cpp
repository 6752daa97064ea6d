/// print_target FILE NAME [DEVICE]: the target whose code calls of a kernel take here, for runs under emulators of other CPUs.
#include <cstdio>

#include "runtime/library.h"

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const attune::Result<attune::Library> library = attune::Library::open(argv[1]);
  const attune::Result<attune::Kernel> kernel = !library ? library.error() : argc == 3 ? library->kernel(argv[2]) : library->kernel(argv[2], argv[3]);
  if (!kernel) {
    std::fprintf(stderr, "%s\n", kernel.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", kernel->usable_targets()[0].name.data());
}
