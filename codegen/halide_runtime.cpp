#include "codegen/halide_runtime.h"

#include "codegen/halide_target.h"

namespace attune {

std::string halide_runtime_object(const TargetInfo& target) {
  const Halide::Target wanted = halide_runtime_target(target);
  const std::string name = wanted.to_string();
  for (const BuiltInRuntime& runtime : built_in_runtimes())
    if (name == runtime.target) return {reinterpret_cast<const char*>(runtime.begin), reinterpret_cast<const char*>(runtime.end)};
  return object_of(Halide::Module("standalone_runtime", wanted.without_feature(Halide::Target::NoRuntime)));
}

}  // namespace attune
