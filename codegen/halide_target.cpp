#include "codegen/halide_target.h"

namespace attune {

Halide::Target halide_target(const TargetInfo& target) {
  Halide::Target halide{std::string(target.halide)};
  for (const auto feature : {Halide::Target::NoBoundsQuery, Halide::Target::NoRuntime, Halide::Target::UserContext}) halide.set_feature(feature);
  return halide;
}

Halide::Target halide_runtime_target(const TargetInfo& target) {
  Halide::Target runtime{std::string(target.halide)};
  for (const auto feature : {Halide::Target::AVX512, Halide::Target::AVX512_Skylake, Halide::Target::AVX512_Cannonlake, Halide::Target::AVX512_Zen4,
                             Halide::Target::AVX2, Halide::Target::AVX, Halide::Target::FMA, Halide::Target::F16C})
    runtime = runtime.without_feature(feature);
  return runtime;
}

}  // namespace attune
