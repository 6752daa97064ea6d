/// A driver of CUDA whose devices are this interpreter: as libcuda.so.1 in LD_LIBRARY_PATH it runs kernels on machines without a GPU. It has the
/// functions that Attune's runtime and Halide's call (src/runtime/cuda_functions.h of Halide 21); those of code and launches stand in
/// cuda_modules.cpp. Work on a stream waits until somebody waits for it, so that who does not wait sees what was there before.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/ptx/driver_work.h"

namespace {

using namespace attune::ptx;

/// CUdevice_attribute, and what an A100 answers; of the rest, but for those that depend on the capability, nothing is asked.
constexpr std::pair<int, int> attributes[] = {
    {1, 1024},         // threads of a block
    {2, 1024},         // along x
    {3, 1024},         // along y
    {4, 64},           // along z
    {5, 2147483647},   // blocks along x
    {6, 65535},        // along y
    {7, 65535},        // along z
    {9, 65536},        // bytes of constant memory
    {10, 32},          // threads of a warp
    {12, 65536},       // registers of a block
    {13, 1410000},     // clock in kHz
    {16, 108},         // multiprocessors
    {39, 2048},        // threads of a multiprocessor
};
/// CUpointer_attribute.
constexpr int context_of_pointer = 1, device_of_pointer = 9, begin_of_pointer = 11, bytes_of_pointer = 12;

/// What a test says, or the device's own.
int shared_bytes(int own) {
  const char* const wanted = std::getenv("PTX_SHARED_BYTES");
  return wanted == nullptr ? own : std::atoi(wanted);
}

}  // namespace

extern "C" {

/// No functions of CUDA.
DriverLog* ptx_driver_log() { return &driver().log; }
DriverState* ptx_driver_state() { return &driver().state; }
/// Forgets a failure of a stream, which a real driver keeps until the process ends.
void ptx_forget_failure() { driver().failure = success; }

int cuGetErrorName(int status, const char** name) {
  const auto* error = std::ranges::find(driver_errors, status, &DriverError::status);
  if (error == std::end(driver_errors)) return invalid_value;
  *name = error->name;
  return success;
}
int cuGetErrorString(int status, const char** text) {
  const auto* error = std::ranges::find(driver_errors, status, &DriverError::status);
  if (error == std::end(driver_errors)) return invalid_value;
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
  constexpr int shared_bytes_of_block = 8, capability_major = 75, capability_minor = 76, shared_bytes_at_most = 97;
  const auto* known = std::ranges::find(attributes, attribute, &std::pair<int, int>::first);
  if (known != std::end(attributes)) *value = known->second;
  else if (attribute == shared_bytes_of_block) *value = shared_bytes(default_shared_bytes);
  else if (attribute == shared_bytes_at_most) *value = shared_bytes(most_shared_bytes());
  else if (attribute == capability_major) *value = capability() / 10;
  else if (attribute == capability_minor) *value = capability() % 10;
  else return invalid_value;
  return success;
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
  contexts().push_back(static_cast<Device*>(*made));
  return success;
}
int cuCtxDestroy_v2(void*) { return success; }
int cuCtxGetApiVersion(void*, unsigned* version) {
  *version = 3020;
  return success;
}
int cuCtxGetDevice(int* device) {
  if (contexts().empty()) return invalid_context;
  *device = contexts().back()->number;
  return success;
}
int cuCtxPushCurrent_v2(void* context) {
  if (const Result wanted = told("cuCtxPushCurrent"); wanted != success) return wanted;
  if (context == nullptr) return invalid_context;
  contexts().push_back(static_cast<Device*>(context));
  return success;
}
int cuCtxPopCurrent_v2(void** popped) {
  if (contexts().empty()) return invalid_context;
  if (popped != nullptr) *popped = contexts().back();
  contexts().pop_back();
  return success;
}
int cuCtxSynchronize() {
  if (const Result wanted = told("cuCtxSynchronize"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  return contexts().empty() ? invalid_context : do_all();
}
int cuProfilerStop() { return success; }

int cuStreamCreate(void** made, unsigned) {
  const Lock lock(driver().guard);
  if (contexts().empty()) return invalid_context;
  auto stream = std::make_unique<Stream>();
  stream->device = contexts().back();
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
  if (attribute == context_of_pointer)
    *static_cast<void**>(value) = device;
  else if (attribute == device_of_pointer)
    *static_cast<int*>(value) = device->number;
  else if (attribute == begin_of_pointer)
    *static_cast<std::uint64_t*>(value) = array->first;
  else if (attribute == bytes_of_pointer)
    *static_cast<std::size_t*>(value) = array->second;
  else
    return invalid_value;
  return success;
}

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (const Result wanted = told("cuMemAlloc"); wanted != success) return wanted;
  const Lock lock(driver().guard);
  if (contexts().empty()) return invalid_context;
  Device& device = *contexts().back();
  if (driver().state.allocated_bytes + bytes > driver().state.memory_bytes) return out_of_memory;
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

/// Halide's runtime wants it, and never calls it.
int cuMemcpy3D_v2(const void*) { return not_supported; }

}  // extern "C"
