#include "tools/gpu_check/stream.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace attune {
namespace {

/// A function of CUDA's driver, which the runtime has loaded for everyone.
template <class Function>
Function cuda_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Result<void*> cuda_stream(const DriverDevice& device, void* context) {
  const auto push = cuda_function<int (*)(void*)>("cuCtxPushCurrent_v2");
  const auto pop = cuda_function<int (*)(void**)>("cuCtxPopCurrent_v2");
  const auto create = cuda_function<int (*)(void**, unsigned)>("cuStreamCreate");
  if (push == nullptr || pop == nullptr || create == nullptr)
    return Error{fmt::format("{}: its driver has no cuStreamCreate", device.text())};
  constexpr unsigned waits_for_no_other = 1;  // CU_STREAM_NON_BLOCKING
  void* stream = nullptr;
  int status = push(context);
  if (status == 0) {
    status = create(&stream, waits_for_no_other);
    pop(&context);
  }
  if (status != 0) return Error{fmt::format("{}: cuStreamCreate: error {} of CUDA's driver", device.text(), status)};
  return stream;
}

}  // namespace

Result<void*> stream_for_calls(DriverDevice& device) {
  const Result<DeviceQueue> own = device.own_queue();
  if (!own) return own.error();
  switch (device.kind()) {
    case attune_cuda:
      return cuda_stream(device, own->context);
    case attune_opencl:
      return own->queue;
    default:
      return Error{fmt::format("{}: calls there copy their tensors; cuda and opencl have devices whose tensors stay", device.text())};
  }
}

}  // namespace attune
