/// Pipelines compiled in memory, by the line of passes that kernels go through.
#pragma once

#include <Halide.h>

#include <vector>

namespace attune {

/// What the test's process can run.
inline Halide::Target jit_target() { return Halide::get_jit_target_from_environment(); }

class JitKernel {
 public:
  JitKernel() = default;
  JitKernel(const Halide::Pipeline& pipeline, const std::vector<Halide::Argument>& arguments, const Halide::Target& target = jit_target());

  /// Calls it with the addresses of its arguments: buffers, those of results last. Gives its exit status.
  int call(const std::vector<const void*>& addresses, const Halide::JITUserContext& context = {}) const;

  template <class... Buffers>
  int operator()(const Buffers&... buffers) const {
    return call({buffers.raw_buffer()...});
  }
  template <class... Buffers>
  int operator()(const Halide::JITUserContext& context, const Buffers&... buffers) const {
    return call({buffers.raw_buffer()...}, context);
  }

 private:
  Halide::Internal::JITModule code_;
};

}  // namespace attune
