#include "codegen/halide/halide_generator.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "codegen/files/cuda_image.h"
#include "codegen/halide/halide_target.h"
#include "codegen/halide/shared_bytes.h"
#include "codegen/halide/step_code.h"

namespace attune {
namespace {

/// Puts machine code beside the PTX of a module's kernels; the problem in words. Halide's runtime hands the bytes to CUDA's driver as they are.
std::string add_machine_code(Halide::Module& module) {
  Halide::Module made(module.name(), module.target());
  made.set_any_strict_float(module.any_strict_float());
  for (const Halide::Buffer<>& buffer : module.buffers()) {
    const auto* text = static_cast<const char*>(buffer.data());
    if (!buffer.name().ends_with("gpu_source_kernels")) {
      made.append(buffer);
      continue;
    }
    const std::string ptx(text, strnlen(text, buffer.size_in_bytes()));
    CudaImage image = cuda_image(ptx);
    if (!image.problem.empty()) return std::move(image.problem);
    Halide::Buffer<std::uint8_t> bytes(static_cast<int>(image.bytes.size() + 1), buffer.name());
    std::copy_n(image.bytes.c_str(), image.bytes.size() + 1, bytes.begin());
    made.append(Halide::Buffer<>(bytes));
  }
  for (const Halide::Internal::LoweredFunc& function : module.functions()) made.append(function);
  module = made;
  return {};
}

/// Halide's own assertions say what failed only where it is asked to talk.
std::string reason_of(const Halide::Error& error) {
  std::string reason = error.what();
  reason.erase(reason.find_last_not_of(" \n") + 1);
  return reason == "Error:" ? "an assertion of its own failed; with HL_DEBUG_CODEGEN=1 it says which" : reason;
}

CodeAnswer code(const CodeRequest& request, const std::string& symbol, CodeForm form) {
  try {
    Halide::Module module = module_of(pipeline_of(request), request.target, symbol);
    if (form == CodeForm::object && request.target.device != Device::cpu)
      if (std::string problem = add_shared_bytes(module, symbol); !problem.empty()) return {{}, std::move(problem)};
    if (form == CodeForm::object && request.has_machine_code && request.target.device == Device::cuda)
      if (std::string problem = add_machine_code(module); !problem.empty()) return {{}, std::move(problem)};
    if (form == CodeForm::object) return {object_of(module), {}};
    if (form == CodeForm::assembly) return {assembly_of(module), {}};
    std::ostringstream loops;
    loops << module;
    return {loops.str(), {}};
  } catch (const Halide::Error& error) {
    return {{}, "internal: Halide refuses a stage: " + reason_of(error)};
  }
}

}  // namespace

CodeGenerator halide_generator() { return {"halide", schedule_of, code}; }

}  // namespace attune
