/// A driver of CUDA whose devices are this interpreter: as libcuda.so.1 in LD_LIBRARY_PATH it runs kernels on machines without a GPU. It has the functions
/// that Attune's runtime and Halide's call (src/runtime/cuda_functions.h of Halide 21). What is wrong in a kernel is said on stderr, and the call fails.
/// Work on a stream waits until somebody waits for it, so that who does not wait sees what was there before.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "tests/ptx/driver_state.h"
#include "tests/ptx/launch.h"

namespace {

using attune::ptx::DeviceMemory;
using attune::ptx::Entry;

/// CUresult of cuda.h; their names stand in driver_errors.
enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  invalid_handle = 400,
  not_found = 500,
  launch_failed = 719,
};

/// CUdevice_attribute, and what an A100 answers; of the rest nothing is asked.
constexpr std::pair<int, int> attributes[] = {
    {1, 1024},         // threads of a block
    {2, 1024},         // along x
    {3, 1024},         // along y
    {4, 64},           // along z
    {5, 2147483647},   // blocks along x
    {6, 65535},        // along y
    {7, 65535},        // along z
    {8, 49152},        // bytes of shared memory of a block
    {9, 65536},        // bytes of constant memory
    {10, 32},          // threads of a warp
    {12, 65536},       // registers of a block
    {13, 1410000},     // clock in kHz
    {16, 108},         // multiprocessors
    {39, 2048},        // threads of a multiprocessor
    {75, 8},           // compute capability
    {76, 0},
};
/// CUpointer_attribute.
constexpr int context_of_pointer = 1, device_of_pointer = 9, begin_of_pointer = 11, bytes_of_pointer = 12;

using Module = std::map<std::string, Entry, std::less<>>;

/// Its address is the primary context of the device.
struct Device {
  int number = 0;
  DeviceMemory memory;
  std::map<std::uint64_t, std::size_t> sizes;  // of its arrays, by address
};

struct Stream {
  Device* device = nullptr;
  std::deque<std::function<Result()>> work;
};

/// The default stream waits for all others, and the first failure of one stays.
struct Driver {
  std::recursive_mutex guard;
  std::deque<Device> devices;
  std::map<void*, std::unique_ptr<Stream>> streams;
  Result failure = success;
  attune::ptx::DriverLog log;
  attune::ptx::DriverState state;
};

Driver& driver() {
  static auto* made = new Driver;
  return *made;
}

thread_local std::vector<Device*> current;  // the thread's contexts, the last on top

using Lock = std::scoped_lock<std::recursive_mutex>;

/// Counts the call; what a test wants of it, if that is a failure.
Result told(const char* function) {
  const Lock lock(driver().guard);
  attune::ptx::DriverState& state = driver().state;
  ++state.calls[function];
  if (state.failing_function != function || state.calls_before-- > 0) return success;
  state.calls_before = 0;
  return static_cast<Result>(state.failing_status);
}

Result failed(const std::string& problem) {
  std::fprintf(stderr, "ptx: %s\n", problem.c_str());
  return launch_failed;
}

Result do_all(Stream& stream) {
  for (; !stream.work.empty(); stream.work.pop_front())
    if (const Result done = stream.work.front()(); done != success && driver().failure == success) driver().failure = done;
  return driver().failure;
}

Result do_all() {
  for (auto& [handle, stream] : driver().streams) do_all(*stream);
  return driver().failure;
}

/// Work that is done at once on the default stream, and later on another.
Result put(void* handle, std::function<Result()> work) {
  const Lock lock(driver().guard);
  if (current.empty()) return invalid_context;
  if (handle == nullptr) {
    const Result before = do_all();
    return before != success ? before : work();
  }
  const auto stream = driver().streams.find(handle);
  if (stream == driver().streams.end() || stream->second->device != current.back()) return invalid_handle;
  stream->second->work.push_back(std::move(work));
  return success;
}

Device* device_at(std::uint64_t address) {
  for (Device& device : driver().devices) {
    const auto above = device.sizes.upper_bound(address);
    if (above != device.sizes.begin() && address < std::prev(above)->first + std::prev(above)->second) return &device;
  }
  return nullptr;
}

/// Copies of host and devices; an address is of any device.
Result copy_in(std::uint64_t to, const void* from, std::size_t bytes) {
  Device* device = device_at(to);
  if (device == nullptr || !device->memory.write(to, from, bytes)) return invalid_value;
  driver().state.bytes_to_device += bytes;
  return success;
}
Result copy_out(void* to, std::uint64_t from, std::size_t bytes) {
  Device* device = device_at(from);
  if (device == nullptr || !device->memory.read(from, to, bytes)) return invalid_value;
  driver().state.bytes_to_host += bytes;
  return success;
}
Result copy_inside(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  Device *source = device_at(from), *target = device_at(to);
  std::size_t offset = 0;
  if (source == nullptr || target == nullptr || source->memory.find(from, bytes, offset) == nullptr) return invalid_value;
  driver().state.bytes_inside += bytes;
  return target->memory.write(to, reinterpret_cast<const void*>(from), bytes) ? success : invalid_value;
}

Result launched(const Entry& entry, const attune::ptx::Launch& launch, Device& device) {
  const std::string problem = attune::ptx::run(entry, launch, device.memory, driver().log.counts);
  return problem.empty() ? success : failed(problem);
}

}  // namespace

extern "C" {

/// CUDA_MEMCPY3D of cuda.h.
struct Copy3D {
  std::size_t src_x, src_y, src_z, src_level;
  int src_kind;
  const void* src_host;
  std::uint64_t src_device;
  void* src_array;
  void* reserved_0;
  std::size_t src_pitch, src_height;
  std::size_t dst_x, dst_y, dst_z, dst_level;
  int dst_kind;
  void* dst_host;
  std::uint64_t dst_device;
  void* dst_array;
  void* reserved_1;
  std::size_t dst_pitch, dst_height;
  std::size_t width, height, depth;
};
constexpr int host_memory = 1, device_memory = 2;

/// No functions of CUDA.
attune::ptx::DriverLog* ptx_driver_log() { return &driver().log; }
attune::ptx::DriverState* ptx_driver_state() { return &driver().state; }
/// Forgets a failure of a stream, which a real driver keeps until the process ends.
void ptx_forget_failure() { driver().failure = success; }

int cuGetErrorName(int status, const char** name) {
  const auto* error = std::ranges::find(attune::ptx::driver_errors, status, &attune::ptx::DriverError::status);
  if (error == std::end(attune::ptx::driver_errors)) return invalid_value;
  *name = error->name;
  return success;
}
int cuGetErrorString(int status, const char** text) {
  const auto* error = std::ranges::find(attune::ptx::driver_errors, status, &attune::ptx::DriverError::status);
  if (error == std::end(attune::ptx::driver_errors)) return invalid_value;
  *text = error->text;
  return success;
}

int cuInit(unsigned) {
  if (const Result wanted = told("cuInit"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  if (driver().devices.empty()) {
    const char* const count = std::getenv("PTX_DEVICES");
    for (int number = 0; number < (count == nullptr ? 1 : std::atoi(count)); ++number) driver().devices.emplace_back().number = number;
  }
  return driver().devices.empty() ? no_device : success;
}
int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(driver().devices.size());
  return told("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return number >= 0 && static_cast<std::size_t>(number) < driver().devices.size() ? success : invalid_device;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  for (const auto& [known, of_device] : attributes)
    if (known == attribute) {
      *value = of_device;
      return success;
    }
  return invalid_value;
}
int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<std::size_t>(length), "interpreter %c of PTX", 'A' + device);
  return success;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = driver().state.memory_bytes;
  return success;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (const Result wanted = told("cuDevicePrimaryCtxRetain"); wanted != success) return wanted;
  if (device < 0 || static_cast<std::size_t>(device) >= driver().devices.size()) return invalid_device;
  *context = &driver().devices[static_cast<std::size_t>(device)];
  return success;
}
int cuCtxCreate_v2(void** made, unsigned, int device) {
  if (cuDevicePrimaryCtxRetain(made, device) != success) return invalid_device;
  current.push_back(static_cast<Device*>(*made));
  return success;
}
int cuCtxDestroy_v2(void*) { return success; }
int cuCtxGetApiVersion(void*, unsigned* version) {
  *version = 3020;
  return success;
}
int cuCtxGetDevice(int* device) {
  if (current.empty()) return invalid_context;
  *device = current.back()->number;
  return success;
}
int cuCtxPushCurrent_v2(void* context) {
  if (const Result wanted = told("cuCtxPushCurrent"); wanted != success) return wanted;
  if (context == nullptr) return invalid_context;
  current.push_back(static_cast<Device*>(context));
  return success;
}
int cuCtxPopCurrent_v2(void** popped) {
  if (current.empty()) return invalid_context;
  if (popped != nullptr) *popped = current.back();
  current.pop_back();
  return success;
}
int cuCtxSynchronize() {
  if (const Result wanted = told("cuCtxSynchronize"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  return current.empty() ? invalid_context : do_all();
}
int cuProfilerStop() { return success; }

int cuStreamCreate(void** made, unsigned) {
  const Lock lock(driver().guard);
  if (current.empty()) return invalid_context;
  auto stream = std::make_unique<Stream>();
  stream->device = current.back();
  *made = stream.get();
  driver().streams[*made] = std::move(stream);
  return success;
}
int cuStreamDestroy_v2(void* stream) {
  const Lock lock(driver().guard);
  const auto found = driver().streams.find(stream);
  if (found == driver().streams.end()) return invalid_handle;
  do_all(*found->second);
  driver().streams.erase(found);
  return success;
}
int cuStreamSynchronize(void* stream) {
  if (const Result wanted = told("cuStreamSynchronize"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  if (stream == nullptr) return do_all();
  const auto found = driver().streams.find(stream);
  return found == driver().streams.end() ? invalid_handle : do_all(*found->second);
}

int cuPointerGetAttribute(void* value, int attribute, std::uint64_t address) {
  const Lock lock(driver().guard);
  Device* device = device_at(address);
  if (device == nullptr) return invalid_value;
  const auto array = std::prev(device->sizes.upper_bound(address));
  if (attribute == context_of_pointer) *static_cast<void**>(value) = device;
  else if (attribute == device_of_pointer) *static_cast<int*>(value) = device->number;
  else if (attribute == begin_of_pointer) *static_cast<std::uint64_t*>(value) = array->first;
  else if (attribute == bytes_of_pointer) *static_cast<std::size_t*>(value) = array->second;
  else return invalid_value;
  return success;
}

int cuModuleLoadData(void** made, const void* image) {
  driver_log.modules.emplace_back(static_cast<const char*>(image));
  try {
    *made = new Module(attune::ptx::parse(static_cast<const char*>(image)));
    return success;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "ptx: %s\n", error.what());
    return invalid_image;
  }
}
int cuModuleLoadDataEx(void** made, const void* image, unsigned count, const int* options, void* const* values) {
  if (const Result wanted = told("cuModuleLoadDataEx"); wanted != success) return wanted;
  constexpr int max_registers = 0;
  driver().log.registers_at_most = 0;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == max_registers) driver().log.registers_at_most = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
  return cuModuleLoadData(made, image);
}
int cuModuleUnload(void* module) {
  const Lock lock(driver().guard);
  do_all();
  delete static_cast<Module*>(module);
  return success;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto& entries = *static_cast<Module*>(module);
  const auto entry = entries.find(name);
  if (entry == entries.end()) return not_found;
  *function = &entry->second;
  return success;
}

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (const Result wanted = told("cuMemAlloc"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  if (current.empty()) return invalid_context;
  Device& device = *current.back();
  std::size_t used = bytes;
  for (const auto& [place, size] : device.sizes) used += size;
  if (used > driver().state.memory_bytes) return out_of_memory;
  try {
    *address = device.memory.allocate(bytes);
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  }
  device.sizes[*address] = bytes;
  driver().state.allocated_bytes += bytes;
  return success;
}
/// What streams have to do with the memory is done before, as it is by a real driver.
int cuMemFree_v2(std::uint64_t address) {
  if (const Result wanted = told("cuMemFree"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  do_all();
  Device* device = device_at(address);
  if (device == nullptr || !device->memory.free(address)) return invalid_value;
  driver().state.allocated_bytes -= device->sizes[address];
  device->sizes.erase(address);
  return success;
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  if (const Result wanted = told("cuMemcpyHtoD"); wanted != success) return wanted;
  return put(stream, [=] { return copy_in(to, from, bytes); });
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  if (const Result wanted = told("cuMemcpyDtoH"); wanted != success) return wanted;
  return put(stream, [=] { return copy_out(to, from, bytes); });
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  if (const Result wanted = told("cuMemcpyDtoD"); wanted != success) return wanted;
  return put(stream, [=] { return copy_inside(to, from, bytes); });
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) { return cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr); }
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) { return cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr); }
int cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) { return cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr); }

int cuMemcpy3D_v2(const Copy3D* copy) {
  const Lock lock(driver().guard);
  if ((copy->src_kind != host_memory && copy->src_kind != device_memory) || (copy->dst_kind != host_memory && copy->dst_kind != device_memory)) return invalid_value;
  for (std::size_t z = 0; z < copy->depth; ++z)
    for (std::size_t y = 0; y < copy->height; ++y) {
      const std::size_t from = ((copy->src_z + z) * copy->src_height + copy->src_y + y) * copy->src_pitch + copy->src_x;
      const std::size_t to = ((copy->dst_z + z) * copy->dst_height + copy->dst_y + y) * copy->dst_pitch + copy->dst_x;
      std::byte* const target = static_cast<std::byte*>(copy->dst_host) + to;
      const std::byte* const source = static_cast<const std::byte*>(copy->src_host) + from;
      Result done = success;
      if (copy->src_kind == device_memory)
        done = copy->dst_kind == device_memory ? copy_inside(copy->dst_device + to, copy->src_device + from, copy->width) : copy_out(target, copy->src_device + from, copy->width);
      else if (copy->dst_kind == device_memory) done = copy_in(copy->dst_device + to, source, copy->width);
      else std::memcpy(target, source, copy->width);
      if (done != success) return done;
    }
  return success;
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                   void** parameters, void**) {
  if (const Result wanted = told("cuLaunchKernel"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  if (current.empty()) return invalid_context;
  const Entry& entry = *static_cast<const Entry*>(function);
  attune::ptx::Launch launch{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, std::vector<std::byte>(entry.parameter_bytes)};
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y == 0 || block_z == 0) return failed("kernel '" + entry.name + "': a launch without threads");
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) std::memcpy(launch.parameters.data() + entry.parameters[i].offset, parameters[i], entry.parameters[i].bytes);
  Device& device = *current.back();
  driver().state.launches.push_back({device.number, stream});
  return put(stream, [&entry, launch = std::move(launch), &device] { return launched(entry, launch, device); });
}

}  // extern "C"
