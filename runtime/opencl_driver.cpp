#include <array>
#include <mutex>

#include "runtime/driver.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// What the runtime itself calls of OpenCL, as cl.h declares it.
struct OpenCl {
  int (*platforms)(unsigned count, void** platforms, unsigned* found);
  int (*devices)(void* platform, std::uint64_t type, unsigned count, void** devices, unsigned* found);
  int (*device_info)(void* device, unsigned what, std::size_t bytes, void* value, std::size_t* taken);
  void* (*create_context)(const std::intptr_t* properties, unsigned count, void* const* devices, void (*tell)(const char*, const void*, std::size_t, void*), void* data,
                          int* status);
  void* (*create_queue)(void* context, void* device, std::uint64_t properties, int* status);
  int (*release_context)(void* context);
  int (*finish)(void* queue);

  static constexpr std::uint64_t all_types = 0xffffffff;     // CL_DEVICE_TYPE_ALL
  static constexpr unsigned name = 0x102b, local_bytes = 0x1023;  // cl_device_info
  static constexpr std::intptr_t of_platform = 0x1084;       // CL_CONTEXT_PLATFORM
};

OpenCl opencl;

/// Numbers, as OpenCL has no function that names them: those that users meet.
constexpr std::pair<int, const char*> opencl_errors[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},       {-2, "CL_DEVICE_NOT_AVAILABLE"}, {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"}, {-5, "CL_OUT_OF_RESOURCES"}, {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-30, "CL_INVALID_VALUE"},         {-32, "CL_INVALID_PLATFORM"},    {-33, "CL_INVALID_DEVICE"},               {-34, "CL_INVALID_CONTEXT"}, {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-38, "CL_INVALID_MEM_OBJECT"},    {-61, "CL_INVALID_BUFFER_SIZE"}, {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

/// "clGetPlatformIDs: CL_PLATFORM_NOT_FOUND_KHR"
std::string opencl_problem(const char* function, int status) {
  for (const auto& [number, name] : opencl_errors)
    if (number == status) return words(function, ": ", name);
  return words(function, ": error ", status);
}

std::string find_opencl_functions() {
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    if (!find_function(name, function)) missing = name;
  };
  find("clGetPlatformIDs", opencl.platforms);
  find("clGetDeviceIDs", opencl.devices);
  find("clGetDeviceInfo", opencl.device_info);
  find("clCreateContext", opencl.create_context);
  find("clCreateCommandQueue", opencl.create_queue);
  find("clReleaseContext", opencl.release_context);
  find("clFinish", opencl.finish);
  return missing == nullptr ? std::string() : words("its driver has no function ", missing, "; that of OpenCL 1.2 and later has it");
}

class OpenClDevice final : public DriverDevice {
 public:
  OpenClDevice(void* platform, void* device, int number, std::string name, std::int64_t shared_bytes)
      : DriverDevice(attune_opencl, number, std::move(name), shared_bytes), platform_(platform), device_(device) {}

  /// Made once, and never given back: kernels and tensors may be there until the process ends.
  Result<DeviceQueue> own_queue() override {
    const std::scoped_lock lock(mutex_);
    if (own_.queue != nullptr) return own_;
    const std::array<std::intptr_t, 3> properties = {OpenCl::of_platform, reinterpret_cast<std::intptr_t>(platform_), 0};
    int status = 0;
    void* const context = opencl.create_context(properties.data(), 1, &device_, nullptr, nullptr, &status);
    if (status != 0) return Error{words(text(), ": ", opencl_problem("clCreateContext", status))};
    void* const queue = opencl.create_queue(context, device_, 0, &status);
    if (status != 0) {
      opencl.release_context(context);
      return Error{words(text(), ": ", opencl_problem("clCreateCommandQueue", status))};
    }
    return own_ = {context, queue};
  }

  bool is_in_use() override {
    const std::scoped_lock lock(mutex_);
    return own_.queue != nullptr;
  }

  Result<void> wait_for_all() override {
    const Result<DeviceQueue> own = own_queue();
    if (!own) return own.error();
    if (const int status = opencl.finish(own->queue); status != 0) return Error{words(text(), ": ", opencl_problem("clFinish", status))};
    return {};
  }

 private:
  void *const platform_, *const device_;
  std::mutex mutex_;
  DeviceQueue own_;
};

std::string name_of_opencl_device(void* device) {
  std::array<char, 256> name{};
  opencl.device_info(device, OpenCl::name, name.size() - 1, name.data(), nullptr);
  return name.data();
}

}  // namespace

Result<DriverDevices> opencl_devices() {
  if (std::string problem = find_opencl_functions(); !problem.empty()) return Error{std::move(problem)};
  std::array<void*, 16> platforms;
  unsigned platform_count = 0;
  if (const int status = opencl.platforms(platforms.size(), platforms.data(), &platform_count); status != 0)
    return Error{words("its driver finds no device: ", opencl_problem("clGetPlatformIDs", status))};
  DriverDevices devices;
  std::string problem;
  for (unsigned p = 0; p < std::min<std::size_t>(platform_count, platforms.size()); ++p) {
    std::array<void*, 64> found;
    unsigned count = 0;
    if (const int status = opencl.devices(platforms[p], OpenCl::all_types, found.size(), found.data(), &count); status != 0) {
      problem = words(": ", opencl_problem("clGetDeviceIDs", status));  // a platform may have none
      continue;
    }
    for (unsigned d = 0; d < std::min<std::size_t>(count, found.size()); ++d) {
      std::uint64_t local_bytes = 0;
      if (const int status = opencl.device_info(found[d], OpenCl::local_bytes, sizeof local_bytes, &local_bytes, nullptr); status != 0)
        return Error{words("device ", devices.size(), ": ", opencl_problem("clGetDeviceInfo", status))};
      devices.push_back(std::make_unique<OpenClDevice>(platforms[p], found[d], static_cast<int>(devices.size()), name_of_opencl_device(found[d]),
                                                       static_cast<std::int64_t>(local_bytes)));
    }
  }
  if (devices.empty()) return Error{words("its driver finds no device", problem)};
  return devices;
}

}  // namespace attune
