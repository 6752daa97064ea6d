/// A driver of CUDA whose device is this interpreter: as libcuda.so.1 in LD_LIBRARY_PATH it runs kernels on machines without a GPU. It has the functions
/// that Halide's runtime calls (src/runtime/cuda_functions.h of Halide 21). What is wrong in a kernel is said on stderr, and the call fails.
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "tests/ptx/launch.h"

namespace {

using attune::ptx::DeviceMemory;
using attune::ptx::Entry;

/// CUresult of cuda.h.
enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_device = 101,
  invalid_image = 200,
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

using Module = std::map<std::string, Entry, std::less<>>;

std::mutex guard;
DeviceMemory memory;
attune::ptx::DriverLog driver_log;
int context = 0;  // its address is the context

Result failed(const std::string& problem) {
  std::fprintf(stderr, "ptx: %s\n", problem.c_str());
  return launch_failed;
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

int cuInit(unsigned) { return success; }
int cuDeviceGetCount(int* count) {
  *count = 1;
  return success;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? success : invalid_device;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  for (const auto& [known, of_device] : attributes)
    if (known == attribute) {
      *value = of_device;
      return success;
    }
  return invalid_value;
}
int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "interpreter of PTX");
  return success;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{1} << 30;
  return success;
}
int cuCtxCreate_v2(void** made, unsigned, int) {
  *made = &context;
  return success;
}
int cuCtxDestroy_v2(void*) { return success; }
int cuCtxGetApiVersion(void*, unsigned* version) {
  *version = 3020;
  return success;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return success;
}
int cuCtxPushCurrent_v2(void*) { return success; }
int cuCtxPopCurrent_v2(void** popped) {
  if (popped != nullptr) *popped = &context;
  return success;
}
int cuCtxSynchronize() { return success; }
int cuStreamSynchronize(void*) { return success; }
int cuProfilerStop() { return success; }
int cuPointerGetAttribute(void* value, int, std::uint64_t) {
  void* const of = &context;
  std::memcpy(value, &of, sizeof of);
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
  constexpr int max_registers = 0;
  driver_log.registers_at_most = 0;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == max_registers) driver_log.registers_at_most = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
  return cuModuleLoadData(made, image);
}
int cuModuleUnload(void* module) {
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
  const std::scoped_lock lock(guard);
  try {
    *address = memory.allocate(bytes);
    return success;
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  }
}
int cuMemFree_v2(std::uint64_t address) {
  const std::scoped_lock lock(guard);
  return memory.free(address) ? success : invalid_value;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  const std::scoped_lock lock(guard);
  return memory.write(to, from, bytes) ? success : invalid_value;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  const std::scoped_lock lock(guard);
  return memory.read(from, to, bytes) ? success : invalid_value;
}
int cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  const std::scoped_lock lock(guard);
  std::size_t offset = 0;
  return memory.find(from, bytes, offset) != nullptr && memory.write(to, reinterpret_cast<const void*>(from), bytes) ? success : invalid_value;
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) { return cuMemcpyHtoD_v2(to, from, bytes); }
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) { return cuMemcpyDtoH_v2(to, from, bytes); }
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) { return cuMemcpyDtoD_v2(to, from, bytes); }

int cuMemcpy3D_v2(const Copy3D* copy) {
  const std::scoped_lock lock(guard);
  if ((copy->src_kind != host_memory && copy->src_kind != device_memory) || (copy->dst_kind != host_memory && copy->dst_kind != device_memory)) return invalid_value;
  for (std::size_t z = 0; z < copy->depth; ++z)
    for (std::size_t y = 0; y < copy->height; ++y) {
      const std::size_t from = ((copy->src_z + z) * copy->src_height + copy->src_y + y) * copy->src_pitch + copy->src_x;
      const std::size_t to = ((copy->dst_z + z) * copy->dst_height + copy->dst_y + y) * copy->dst_pitch + copy->dst_x;
      const void* source = copy->src_kind == host_memory ? static_cast<const std::byte*>(copy->src_host) + from : reinterpret_cast<const std::byte*>(copy->src_device + from);
      std::size_t offset = 0;
      if (copy->src_kind == device_memory && memory.find(copy->src_device + from, copy->width, offset) == nullptr) return invalid_value;
      if (copy->dst_kind == host_memory) std::memcpy(static_cast<std::byte*>(copy->dst_host) + to, source, copy->width);
      else if (!memory.write(copy->dst_device + to, source, copy->width)) return invalid_value;
    }
  return success;
}

/// No function of CUDA.
attune::ptx::DriverLog* ptx_driver_log() { return &driver_log; }

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void*,
                   void** parameters, void**) {
  const std::scoped_lock lock(guard);
  const Entry& entry = *static_cast<const Entry*>(function);
  attune::ptx::Launch launch{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, std::vector<std::byte>(entry.parameter_bytes)};
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y == 0 || block_z == 0) return failed("kernel '" + entry.name + "': a launch without threads");
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) std::memcpy(launch.parameters.data() + entry.parameters[i].offset, parameters[i], entry.parameters[i].bytes);
  const std::string problem = attune::ptx::run(entry, launch, memory, driver_log.counts);
  return problem.empty() ? success : failed(problem);
}

}  // extern "C"
