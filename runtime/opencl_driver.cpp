#include <algorithm>
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
  void* (*create_context)(const std::intptr_t* properties, unsigned count, void* const* devices,
                          void (*tell)(const char*, const void*, std::size_t, void*), void* data, int* status);
  void* (*create_queue)(void* context, void* device, std::uint64_t properties, int* status);
  int (*release_context)(void* context);
  int (*finish)(void* queue);
  int (*flush)(void* queue);
  int (*queue_info)(void* queue, unsigned what, std::size_t bytes, void* value, std::size_t* taken);
  int (*context_info)(void* context, unsigned what, std::size_t bytes, void* value, std::size_t* taken);
  int (*memory_info)(void* memory, unsigned what, std::size_t bytes, void* value, std::size_t* taken);
  void* (*create_buffer)(void* context, std::uint64_t flags, std::size_t bytes, void* host, int* status);
  int (*release_memory)(void* memory);
  int (*write)(void* queue, void* memory, unsigned is_blocking, std::size_t offset, std::size_t bytes, const void* from, unsigned count,
               const void* before, void** event);
  int (*read)(void* queue, void* memory, unsigned is_blocking, std::size_t offset, std::size_t bytes, void* to, unsigned count, const void* before,
              void** event);

  static constexpr std::uint64_t all_types = 0xffffffff;                                // CL_DEVICE_TYPE_ALL
  static constexpr unsigned name = 0x102b, local_bytes = 0x1023, offset_bits = 0x1019;  // cl_device_info
  static constexpr std::intptr_t of_platform = 0x1084;                                  // CL_CONTEXT_PLATFORM
  static constexpr unsigned context_of_queue = 0x1090, device_of_queue = 0x1091, device_count_of_context = 0x1083;
  static constexpr unsigned context_of_memory = 0x1106, bytes_of_memory = 0x1102;  // cl_mem_info
  static constexpr std::uint64_t read_write = 1;                                   // CL_MEM_READ_WRITE
};

OpenCl opencl;

/// Numbers, as OpenCL has no function that names them: those that users meet.
constexpr std::pair<int, const char*> opencl_errors[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},          {-2, "CL_DEVICE_NOT_AVAILABLE"}, {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},          {-6, "CL_OUT_OF_HOST_MEMORY"},   {-30, "CL_INVALID_VALUE"},
    {-32, "CL_INVALID_PLATFORM"},         {-33, "CL_INVALID_DEVICE"},      {-34, "CL_INVALID_CONTEXT"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},    {-38, "CL_INVALID_MEM_OBJECT"},  {-61, "CL_INVALID_BUFFER_SIZE"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
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
  find("clFlush", opencl.flush);
  find("clGetCommandQueueInfo", opencl.queue_info);
  find("clGetContextInfo", opencl.context_info);
  find("clGetMemObjectInfo", opencl.memory_info);
  find("clCreateBuffer", opencl.create_buffer);
  find("clReleaseMemObject", opencl.release_memory);
  find("clEnqueueWriteBuffer", opencl.write);
  find("clEnqueueReadBuffer", opencl.read);
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

  Result<DeviceQueue> queue_of(void* stream) override {
    if (stream == nullptr) return own_queue();
    DeviceQueue queue{nullptr, stream};
    void* device = nullptr;
    unsigned devices = 0;
    int status = opencl.queue_info(stream, OpenCl::context_of_queue, sizeof queue.context, &queue.context, nullptr);
    if (status == 0) status = opencl.queue_info(stream, OpenCl::device_of_queue, sizeof device, &device, nullptr);
    if (status == 0) status = opencl.context_info(queue.context, OpenCl::device_count_of_context, sizeof devices, &devices, nullptr);
    if (status != 0) return Error{words("its stream is no command queue of ", text(), ": ", opencl_problem("clGetCommandQueueInfo", status))};
    if (device != device_) return Error{words("its stream is a command queue of another device than ", text(), ", which the call runs on")};
    if (devices != 1)
      return Error{words("its stream is a command queue in a context of ", devices, " devices; expected a context of ", text(), " alone")};
    return queue;
  }

  bool is_in_use() override {
    const std::scoped_lock lock(mutex_);
    return own_.queue != nullptr;
  }

  Result<void> wait_for_all() override {
    const Result<DeviceQueue> own = own_queue();
    return own ? wait(*own) : own.error();
  }
  Result<void> wait(const DeviceQueue& queue) override { return answer("clFinish", opencl.finish(queue.queue)); }

  Result<void> submit(const DeviceQueue& queue) override { return answer("clFlush", opencl.flush(queue.queue)); }

  std::string memory_problem(void* memory, std::int64_t first, std::int64_t end, const DeviceQueue& queue) override {
    void* context = nullptr;
    std::size_t bytes = 0;
    unsigned offset_bits = 0;
    int status = opencl.memory_info(memory, OpenCl::context_of_memory, sizeof context, &context, nullptr);
    if (status == 0) status = opencl.memory_info(memory, OpenCl::bytes_of_memory, sizeof bytes, &bytes, nullptr);
    if (status == 0) status = opencl.device_info(device_, OpenCl::offset_bits, sizeof offset_bits, &offset_bits, nullptr);
    if (status != 0) return words(" is no memory that the driver knows: ", opencl_problem("clGetMemObjectInfo", status));
    if (context != queue.context)
      return " is memory of another context than that of the call; the call's stream must be a command queue of the memory's context";
    if (first < 0 || end > static_cast<std::int64_t>(bytes)) return words(" reaches bytes ", first, " to ", end - 1, " of its cl_mem, which has ", bytes);
    const std::int64_t step = std::max<std::int64_t>(offset_bits / 8, 1);
    return first % step == 0 ? std::string() : words(" begins ", first, " bytes into its cl_mem; ", text(), " takes multiples of ", step);
  }

  Result<void*> allocate(std::size_t bytes) override {
    const Result<DeviceQueue> own = own_queue();
    if (!own) return own.error();
    int status = 0;
    void* const memory = opencl.create_buffer(own->context, OpenCl::read_write, bytes, nullptr, &status);
    if (Result<void> made = answer("clCreateBuffer", status); !made) return made.error();
    return memory;
  }
  void release(void* memory) override { opencl.release_memory(memory); }

  Result<void> write(void* memory, const void* from, std::size_t bytes, const DeviceQueue& queue) override {
    return answer("clEnqueueWriteBuffer", opencl.write(queue.queue, memory, 1, 0, bytes, from, 0, nullptr, nullptr));
  }
  Result<void> read(const void* memory, void* to, std::size_t bytes, const DeviceQueue& queue) override {
    return answer("clEnqueueReadBuffer", opencl.read(queue.queue, const_cast<void*>(memory), 1, 0, bytes, to, 0, nullptr, nullptr));
  }

 private:
  Result<void> answer(const char* function, int status) const {
    if (status != 0) return Error{words(text(), ": ", opencl_problem(function, status))};
    return {};
  }

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
