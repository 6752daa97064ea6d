/// make_halide_runtime OBJECT TARGET: writes Halide's runtime (threads, memory, errors; no devices) for a target as an object file.
#include <Halide.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "make_halide_runtime: got %d arguments; expected an object file and a Halide target\n", argc - 1);
    return 2;
  }
  try {
    Halide::compile_standalone_runtime(argv[1], Halide::Target(std::string(argv[2])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_halide_runtime: target '%s': %s\n", argv[2], error.what());
    return 1;
  }
}
