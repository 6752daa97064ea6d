#include "codegen/halide/halide_runtime.h"

#include "codegen/halide/halide_target.h"

namespace attune {

std::string halide_runtime_object(std::span<const TargetInfo* const> targets) {
  const Halide::Target wanted = halide_runtime_target(targets);
  const std::string name = wanted.to_string();
  for (const BuiltInRuntime& runtime : built_in_runtimes())
    if (name == runtime.target) return {reinterpret_cast<const char*>(runtime.begin), reinterpret_cast<const char*>(runtime.end)};
  return object_of(Halide::Module("standalone_runtime", wanted));
}

}  // namespace attune
