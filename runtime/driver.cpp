#include "runtime/driver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "runtime/words.h"

namespace attune {
namespace {

/// Loaded globally: the Halide runtime inside a kernel file asks for the driver's symbols before it looks for the file itself,
/// which it knows only by the name that development packages give.
std::string load(const char* name) {
  if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  const char* reason = dlerror();
  return words("its driver ", name, " cannot be loaded", reason != nullptr ? words(" (", reason, ")") : "");
}

}  // namespace

std::string driver_problem(attune_device device) {
  if (device == attune_opencl) {
    static const std::string problem = load("libOpenCL.so.1");
    return problem;
  }
  if (device == attune_cuda) {
    static const std::string problem = [] {
      // Halide's runtime lets CUDA's compiler take 64 registers a thread unless this says otherwise: kernels have their sums in more, and would spill them.
      setenv("HL_CUDA_JIT_MAX_REGISTERS", "255", 0);
      return load("libcuda.so.1");
    }();
    return problem;
  }
  if (device == attune_vulkan) {
    static const std::string problem = [] {
      // As codegen/halide/rewrites/empty_on_devices.h wants it.
      setenv("HL_VK_ALLOC_CONFIG", "0:0:0:0:1024", 0);
      const std::string missing = load("libvulkan.so.1");
      // Halide's runtime ends the program where there is no device.
      return missing.empty() ? vulkan_problem() : missing;
    }();
    return problem;
  }
  return {};
}

int finish_on_device(void* user_context, const attune_kernel_v3& kernel, CallBuffers& call, int status) {
  for (std::size_t t = 0; t < static_cast<std::size_t>(kernel.tensor_count); ++t) {
    halide_buffer_t& buffer = call.buffers[t];
    if (buffer.device_interface == nullptr) continue;
    if (status == 0 && kernel.tensors[t].is_output != 0 && buffer.device_dirty() && buffer.number_of_elements() > 0)
      status = buffer.device_interface->copy_to_host(user_context, &buffer);
    const int freed = buffer.device_interface->device_free(user_context, &buffer);
    if (status == 0) status = freed;
  }
  return status;
}

}  // namespace attune
