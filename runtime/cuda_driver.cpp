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
  int (*error_name)(int status, const char** name);
  int (*error_text)(int status, const char** text);

  static constexpr int shared_bytes_of_block = 8;  // CUdevice_attribute
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
  return missing == nullptr ? std::string() : words("its driver has no function ", missing, "; that of CUDA 7 and later has it");
}

class CudaDevice final : public DriverDevice {
 public:
  CudaDevice(int device, int number, std::string name, std::int64_t shared_bytes)
      : DriverDevice(attune_cuda, number, std::move(name), shared_bytes), device_(device) {}

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

  bool is_in_use() override {
    const std::scoped_lock lock(mutex_);
    return context_ != nullptr;
  }

  Result<void> wait_for_all() override {
    return in_context("cuCtxSynchronize", [] { return cuda.wait_for_context(); });
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
  if (const int status = cuda.device_count(&count); status != 0) return Error{words("its driver finds no device: ", cuda_problem("cuDeviceGetCount", status))};
  if (count == 0) return Error{"its driver finds no device"};
  DriverDevices devices;
  for (int number = 0; number < count; ++number) {
    int device = 0, shared_bytes = 0;
    std::array<char, 256> name{};
    if (const int status = cuda.device_of(&device, number); status != 0) return Error{words("device ", number, ": ", cuda_problem("cuDeviceGet", status))};
    cuda.device_name(name.data(), static_cast<int>(name.size()) - 1, device);
    if (const int status = cuda.device_attribute(&shared_bytes, Cuda::shared_bytes_of_block, device); status != 0)
      return Error{words("device ", number, ": ", cuda_problem("cuDeviceGetAttribute", status))};
    devices.push_back(std::make_unique<CudaDevice>(device, number, name.data(), shared_bytes));
  }
  return devices;
}

}  // namespace attune
