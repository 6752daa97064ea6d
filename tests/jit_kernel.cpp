#include "tests/jit_kernel.h"

#include "codegen/halide/halide_passes.h"

namespace attune {

JitKernel::JitKernel(const Halide::Pipeline& pipeline, const std::vector<Halide::Argument>& arguments, const Halide::Target& target) {
  const Halide::Target in_memory = target.with_feature(Halide::Target::JIT).with_feature(Halide::Target::UserContext);
  const Halide::Module module = module_through_passes(pipeline, arguments, "kernel", in_memory);
  code_ = Halide::Internal::JITModule(module, module.get_function_by_name("kernel"));
}

int JitKernel::call(const std::vector<const void*>& addresses, const Halide::JITUserContext& context) const {
  Halide::JITUserContext own = context;
  own.handlers.custom_error = [](Halide::JITUserContext*, const char*) {};  // the exit status says it
  Halide::Internal::JITSharedRuntime::populate_jit_handlers(&own, {});
  const Halide::JITUserContext* const address = &own;
  std::vector<const void*> all{&address};
  all.insert(all.end(), addresses.begin(), addresses.end());
  return code_.argv_function()(all.data());
}

}  // namespace attune
