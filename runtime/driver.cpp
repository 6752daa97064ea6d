#include "runtime/driver.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <optional>

#include "runtime/storage.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// Loaded globally: the Halide runtime inside a kernel file asks for the driver's symbols before it looks for the file itself,
/// which it knows only by the name that development packages give.
std::string load_driver_file(const char* name) {
  if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  const char* reason = dlerror();
  return words("its driver ", name, " cannot be loaded", reason != nullptr ? words(" (", reason, ")") : "");
}

/// Asked once, as the driver would give the same again.
const Result<DriverDevices>& devices_of(attune_device kind) {
  static const auto never = [] { return Result<DriverDevices>(Error{"kernels run on no such device"}); };
  const auto asked = [](attune_device of, Result<DriverDevices> (*devices)()) {
    const std::string problem = driver_problem(of);
    return problem.empty() ? devices() : Result<DriverDevices>(Error{problem});
  };
  if (kind == attune_cuda) {
    static const auto& cuda = *new Result<DriverDevices>(asked(attune_cuda, cuda_devices));  // never destroyed: kernels may run after main
    return cuda;
  }
  if (kind == attune_opencl) {
    static const auto& opencl = *new Result<DriverDevices>(asked(attune_opencl, opencl_devices));
    return opencl;
  }
  if (kind == attune_vulkan) {
    static const auto& vulkan = *new Result<DriverDevices>(asked(attune_vulkan, vulkan_devices));
    return vulkan;
  }
  static const auto& none = *new Result<DriverDevices>(never());
  return none;
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string DriverDevice::text() const { return words(name_of(kind_), ":", number_); }

std::string driver_problem(attune_device device) {
  if (device == attune_opencl) {
    static const std::string problem = load_driver_file("libOpenCL.so.1");
    return problem;
  }
  if (device == attune_cuda) {
    static const std::string problem = [] {
      // Halide's runtime lets CUDA's compiler take 64 registers a thread unless this says otherwise: kernels have their sums in more, and would spill
      // them.
      setenv("HL_CUDA_JIT_MAX_REGISTERS", "255", 0);
      return load_driver_file("libcuda.so.1");
    }();
    return problem;
  }
  if (device == attune_vulkan) {
    static const std::string problem = [] {
      // As codegen/halide/rewrites/empty_on_devices.h wants it.
      setenv("HL_VK_ALLOC_CONFIG", "0:0:0:0:1048576", 0);
      return load_driver_file("libvulkan.so.1");
    }();
    return problem;
  }
  return {};
}

void* driver_symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

std::vector<DriverDevice*> devices_in_use(attune_device kind) {
  std::vector<DriverDevice*> used;
  if (const Result<DriverDevices>& devices = devices_of(kind))
    for (const auto& device : *devices)
      if (device->is_in_use()) used.push_back(device.get());
  return used;
}

Result<DriverDevice*> find_device(attune_device kind, std::string_view which) {
  const Result<DriverDevices>& devices = devices_of(kind);
  if (!devices) return devices.error();
  if (which.empty()) return devices->front().get();
  std::string known;
  const std::optional<int> number = number_of(which);
  for (const auto& device : *devices) {
    if (number ? device->number() == *number : device->name().find(which) != std::string::npos) return device.get();
    add_to_list(known, words(device->text(), " (", device->name(), ")"));
  }
  return Error{words("its driver has no device ", number ? "" : "whose name holds '", which, number ? "" : "'", "; it has ", known)};
}

}  // namespace attune
