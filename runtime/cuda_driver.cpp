#include <array>
#include <mutex>

#include "runtime/driver.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// What the runtime itself calls of CUDA's driver, as cuda.h declares it.
struct Cuda {
  int (*init)(unsigned flags);
  int (*device_count)(int* count);
  int (*device_of)(int* device, int number);
  int (*device_name)(char* name, int length, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*retain_primary_context)(void** context, int device);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
  int (*wait_for_context)();
  int (*wait_for_stream)(void* stream);
  int (*pointer_attribute)(void* value, int attribute, std::uintptr_t address);
  int (*allocate)(std::uintptr_t* address, std::size_t bytes);
  int (*free)(std::uintptr_t address);
  int (*write)(std::uintptr_t to, const void* from, std::size_t bytes, void* stream);
  int (*read)(void* to, std::uintptr_t from, std::size_t bytes, void* stream);
  int (*error_name)(int status, const char** name);
  int (*error_text)(int status, const char** text);

  static constexpr int shared_bytes_of_block = 8, capability_major = 75, capability_minor = 76;  // CUdevice_attribute
  static constexpr int device_of_pointer = 9, begin_of_range = 11, bytes_of_range = 12;  // CUpointer_attribute
};

Cuda cuda;

/// "cuInit: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)"
std::string cuda_problem(const char* function, int status) {
  const char *name = nullptr, *text = nullptr;
  if (cuda.error_name != nullptr) cuda.error_name(status, &name);
  if (cuda.error_text != nullptr) cuda.error_text(status, &text);
  return words(function, ": ", name != nullptr ? name : words("error ", status), text != nullptr ? words(" (", text, ")") : "");
}

std::string find_cuda_functions() {
  find_function("cuGetErrorName", cuda.error_name);
  find_function("cuGetErrorString", cuda.error_text);
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    if (!find_function(name, function)) missing = name;
  };
  find("cuInit", cuda.init);
  find("cuDeviceGetCount", cuda.device_count);
  find("cuDeviceGet", cuda.device_of);
  find("cuDeviceGetName", cuda.device_name);
  find("cuDeviceGetAttribute", cuda.device_attribute);
  find("cuDevicePrimaryCtxRetain", cuda.retain_primary_context);
  find("cuCtxPushCurrent_v2", cuda.push_context);
  find("cuCtxPopCurrent_v2", cuda.pop_context);
  find("cuCtxSynchronize", cuda.wait_for_context);
  find("cuStreamSynchronize", cuda.wait_for_stream);
  find("cuPointerGetAttribute", cuda.pointer_attribute);
  find("cuMemAlloc_v2", cuda.allocate);
  find("cuMemFree_v2", cuda.free);
  find("cuMemcpyHtoDAsync_v2", cuda.write);
  find("cuMemcpyDtoHAsync_v2", cuda.read);
  return missing == nullptr ? std::string() : words("its driver has no function ", missing, "; that of CUDA 7 and later has it");
}

class CudaDevice final : public DriverDevice {
 public:
  CudaDevice(int device, int number, std::string name, std::int64_t shared_bytes)
      : DriverDevice(attune_cuda, number, std::move(name), shared_bytes), device_(device) {}

  std::string capability() const override {
    int major = 0, minor = 0;
    const bool is_known = cuda.device_attribute(&major, Cuda::capability_major, device_) == 0 &&
                          cuda.device_attribute(&minor, Cuda::capability_minor, device_) == 0;
    return is_known ? words("compute capability ", major, ".", minor) : std::string();
  }

  /// Retained once, and never given back: kernels and tensors may be there until the process ends.
  Result<DeviceQueue> own_queue() override {
    const std::scoped_lock lock(mutex_);
    if (context_ == nullptr)
      if (const int status = cuda.retain_primary_context(&context_, device_); status != 0) {
        context_ = nullptr;
        return Error{words(text(), ": ", cuda_problem("cuDevicePrimaryCtxRetain", status))};
      }
    return DeviceQueue{context_, nullptr};
  }

  Result<DeviceQueue> queue_of(void* stream) override {
    Result<DeviceQueue> queue = own_queue();
    if (queue) queue->queue = stream;
    return queue;
  }

  bool is_in_use() override {
    const std::scoped_lock lock(mutex_);
    return context_ != nullptr;
  }

  Result<void> wait_for_all() override {
    return in_context("cuCtxSynchronize", [] { return cuda.wait_for_context(); });
  }
  Result<void> wait(const DeviceQueue& queue) override {
    return in_context("cuStreamSynchronize", [&] { return cuda.wait_for_stream(queue.queue); });
  }

  Result<void> submit(const DeviceQueue&) override { return {}; }  // it does not keep work

  std::string memory_problem(void* memory, std::int64_t first, std::int64_t end, const DeviceQueue&) override {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    int number = -1;
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    int status = cuda.pointer_attribute(&number, Cuda::device_of_pointer, address);
    if (status == 0 && number != this->number()) return words(" lies on cuda:", number, ", not on ", text(), " as its tensor says");
    if (status == 0) status = cuda.pointer_attribute(&begin, Cuda::begin_of_range, address);
    if (status == 0) status = cuda.pointer_attribute(&bytes, Cuda::bytes_of_range, address);
    if (status != 0) return words(" is at address ", address, ", where the driver knows no memory: ", cuda_problem("cuPointerGetAttribute", status));
    if (first >= 0 && address + static_cast<std::uintptr_t>(end) <= begin + bytes) return {};
    return words(" reaches bytes ", first, " to ", end - 1, "; its memory on ", text(), " has ", begin + bytes - address);
  }

  Result<void*> allocate(std::size_t bytes) override {
    std::uintptr_t address = 0;
    if (Result<void> done = in_context("cuMemAlloc", [&] { return cuda.allocate(&address, bytes); }); !done) return done.error();
    return reinterpret_cast<void*>(address);
  }
  void release(void* memory) override {
    (void)in_context("cuMemFree", [&] { return cuda.free(reinterpret_cast<std::uintptr_t>(memory)); }).has_value();
  }

  Result<void> write(void* memory, const void* from, std::size_t bytes, const DeviceQueue& queue) override {
    Result<void> put =
        in_context("cuMemcpyHtoDAsync", [&] { return cuda.write(reinterpret_cast<std::uintptr_t>(memory), from, bytes, queue.queue); });
    return put ? wait(queue) : put;
  }
  Result<void> read(const void* memory, void* to, std::size_t bytes, const DeviceQueue& queue) override {
    Result<void> put = in_context("cuMemcpyDtoHAsync", [&] { return cuda.read(to, reinterpret_cast<std::uintptr_t>(memory), bytes, queue.queue); });
    return put ? wait(queue) : put;
  }

 private:
  /// Calls a function of the driver with the device's context as the thread's.
  template <class Function>
  Result<void> in_context(const char* name, const Function& function) {
    const Result<DeviceQueue> queue = own_queue();
    if (!queue) return queue.error();
    int status = cuda.push_context(queue->context);
    if (status != 0) return Error{words(text(), ": ", cuda_problem("cuCtxPushCurrent", status))};
    status = function();
    void* popped = nullptr;
    cuda.pop_context(&popped);
    if (status != 0) return Error{words(text(), ": ", cuda_problem(name, status))};
    return {};
  }

  const int device_;
  std::mutex mutex_;
  void* context_ = nullptr;
};

}  // namespace

Result<DriverDevices> cuda_devices() {
  if (std::string problem = find_cuda_functions(); !problem.empty()) return Error{std::move(problem)};
  if (const int status = cuda.init(0); status != 0) return Error{words("its driver finds no device: ", cuda_problem("cuInit", status))};
  int count = 0;
  if (const int status = cuda.device_count(&count); status != 0)
    return Error{words("its driver finds no device: ", cuda_problem("cuDeviceGetCount", status))};
  if (count == 0) return Error{"its driver finds no device"};
  DriverDevices devices;
  for (int number = 0; number < count; ++number) {
    int device = 0, shared_bytes = 0;
    std::array<char, 256> name{};
    if (const int status = cuda.device_of(&device, number); status != 0)
      return Error{words("device ", number, ": ", cuda_problem("cuDeviceGet", status))};
    cuda.device_name(name.data(), static_cast<int>(name.size()) - 1, device);
    if (const int status = cuda.device_attribute(&shared_bytes, Cuda::shared_bytes_of_block, device); status != 0)
      return Error{words("device ", number, ": ", cuda_problem("cuDeviceGetAttribute", status))};
    devices.push_back(std::make_unique<CudaDevice>(device, number, name.data(), shared_bytes));
  }
  return devices;
}

}  // namespace attune
