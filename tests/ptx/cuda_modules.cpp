/// Code and launches of the driver that interprets PTX: modules of a context, and libraries, which CUDA 12 loads without one. What is wrong
/// in a kernel is said on stderr, and the call fails.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "tests/ptx/driver_work.h"
#include "tests/ptx/image.h"
#include "tests/ptx/target.h"

namespace {

using namespace attune::ptx;

/// CUfunction and CUkernel: a launch takes either.
struct Function {
  Entry entry;
  std::map<int, int> dynamic_shared_bytes;  // that a launch may add at most, by the device for which somebody asked
};
using Module = std::map<std::string, Function, std::less<>>;

/// CUfunction_attribute: bytes that a launch may add to the shared memory that a function declares; CUjit_option.
constexpr int most_dynamic_shared_bytes = 8, static_shared_bytes = 1, max_registers = 0;

Result refused(const std::string& problem, Result status) {
  std::fprintf(stderr, "ptx: %s\n", problem.c_str());
  return status;
}

Result launched(const Entry& entry, const Launch& launch, Device& device) {
  const std::string problem = run(entry, launch, device.memory, driver().log.counts);
  return problem.empty() ? success : refused(problem, launch_failed);
}

/// ptxas compiles no function that declares more than 48 kB of shared memory.
Module module_of(const std::string& ptx) {
  Module module;
  for (auto& [name, entry] : parse(ptx)) {
    if (entry.shared_bytes > default_shared_bytes)
      throw std::runtime_error("kernel '" + name + "' declares " + std::to_string(entry.shared_bytes) +
                               " bytes of shared memory, of which " + std::to_string(default_shared_bytes) +
                               " can be; more has no size there, and a launch adds it");
    module[name].entry = entry;
  }
  return module;
}

/// An image becomes a module if it fits the devices, with the options of its compilation.
Result load(void** made, const void* image, unsigned count, const int* options, void* const* values) {
  const Lock lock(driver().guard);
  DriverLog& log = driver().log;
  try {
    const std::string ptx = ptx_of_image(image, capability());
    if (ptx.empty()) return no_binary_for_gpu;
    if (!target_of(ptx).fits(capability())) return invalid_ptx;
    log.modules.push_back(ptx);
    log.machine_codes = machine_codes_of_image(image);
    log.registers_at_most = 0;
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == max_registers) log.registers_at_most = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
    *made = new Module(module_of(ptx));
    return success;
  } catch (const std::runtime_error& error) {
    return refused(error.what(), invalid_image);
  }
}

Result unload(void* module) {
  const Lock lock(driver().guard);
  do_all();
  delete static_cast<Module*>(module);
  return success;
}

Result find(void** function, void* module, const char* name) {
  auto& functions = *static_cast<Module*>(module);
  const auto found = functions.find(name);
  if (found == functions.end()) return not_found;
  *function = &found->second;
  return success;
}

/// What a launch on the device may add to the function's own shared memory.
int dynamic_limit(const Function& function, int device) {
  const auto wanted = function.dynamic_shared_bytes.find(device);
  return wanted != function.dynamic_shared_bytes.end() ? wanted->second
                                                       : default_shared_bytes - static_cast<int>(function.entry.shared_bytes);
}

Result set_attribute(Function& function, int attribute, int value, int device) {
  const Lock lock(driver().guard);
  if (attribute != most_dynamic_shared_bytes) return invalid_value;
  if (value < 0 || value + static_cast<int>(function.entry.shared_bytes) > most_shared_bytes()) return invalid_value;
  function.dynamic_shared_bytes[device] = value;
  return success;
}

Result attribute_of(int* value, const Function& function, int attribute, int device) {
  const Lock lock(driver().guard);
  if (attribute != most_dynamic_shared_bytes && attribute != static_shared_bytes) return invalid_value;
  *value = attribute == static_shared_bytes ? static_cast<int>(function.entry.shared_bytes) : dynamic_limit(function, device);
  return success;
}

}  // namespace

extern "C" {

int cuModuleLoadDataEx(void** made, const void* image, unsigned count, const int* options, void* const* values) {
  if (const Result wanted = told("cuModuleLoadDataEx"); wanted != success) return wanted;
  return load(made, image, count, options, values);
}
int cuModuleLoadData(void** made, const void* image) { return load(made, image, 0, nullptr, nullptr); }
int cuModuleUnload(void* module) { return unload(module); }
int cuModuleGetFunction(void** function, void* module, const char* name) { return find(function, module, name); }

/// A real driver may load the code only when somebody asks for a function, and fail then.
int cuLibraryLoadData(void** made, const void* image, const int* options, void* const* values, unsigned count, const int*, void* const*,
                      unsigned) {
  if (const Result wanted = told("cuLibraryLoadData"); wanted != success) return wanted;
  return driver().devices.empty() ? not_initialized : load(made, image, count, options, values);
}
int cuLibraryUnload(void* library) {
  if (const Result wanted = told("cuLibraryUnload"); wanted != success) return wanted;
  return unload(library);
}
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  if (const Result wanted = told("cuLibraryGetKernel"); wanted != success) return wanted;
  return find(kernel, library, name);
}
int cuKernelGetFunction(void** function, void* kernel) {
  if (const Result wanted = told("cuKernelGetFunction"); wanted != success) return wanted;
  if (contexts().empty()) return invalid_context;
  *function = kernel;
  return success;
}
int cuKernelSetAttribute(int attribute, int value, void* kernel, int device) {
  if (const Result wanted = told("cuKernelSetAttribute"); wanted != success) return wanted;
  if (device < 0 || static_cast<std::size_t>(device) >= driver().devices.size()) return invalid_device;
  return set_attribute(*static_cast<Function*>(kernel), attribute, value, device);
}
int cuKernelGetAttribute(int* value, int attribute, void* kernel, int device) {
  return attribute_of(value, *static_cast<const Function*>(kernel), attribute, device);
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  if (const Result wanted = told("cuFuncSetAttribute"); wanted != success) return wanted;
  return contexts().empty() ? invalid_context
                            : set_attribute(*static_cast<Function*>(function), attribute, value, contexts().back()->number);
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  return contexts().empty() ? invalid_context
                            : attribute_of(value, *static_cast<const Function*>(function), attribute, contexts().back()->number);
}

int cuLaunchKernel(void* launched_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void* stream, void** parameters, void**) {
  if (const Result wanted = told("cuLaunchKernel"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  if (contexts().empty()) return invalid_context;
  const Function& function = *static_cast<const Function*>(launched_function);
  const Entry& entry = function.entry;
  Device& device = *contexts().back();
  if (shared_bytes > static_cast<unsigned>(dynamic_limit(function, device.number))) return invalid_value;
  Launch launch{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, std::vector<std::byte>(entry.parameter_bytes)};
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y == 0 || block_z == 0)
    return refused("kernel '" + entry.name + "': a launch without threads", launch_failed);
  for (std::size_t i = 0; i < entry.parameters.size(); ++i)
    std::memcpy(launch.parameters.data() + entry.parameters[i].offset, parameters[i], entry.parameters[i].bytes);
  driver().state.launches.push_back({device.number, stream});
  return put(stream, [&entry, launch = std::move(launch), &device] { return launched(entry, launch, device); });
}

}  // extern "C"
