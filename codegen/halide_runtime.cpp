#include "codegen/halide_runtime.h"

#include <fstream>

#include "codegen/halide_target.h"

namespace attune {

void write_halide_runtime(const TargetInfo& target, const std::string& file) {
  const Halide::Target wanted = halide_runtime_target(target);
  const std::string name = wanted.to_string();
  for (const BuiltInRuntime& runtime : built_in_runtimes())
    if (name == runtime.target) {
      std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(runtime.begin), runtime.end - runtime.begin);
      return;
    }
  Halide::compile_standalone_runtime(file, wanted);
}

}  // namespace attune
