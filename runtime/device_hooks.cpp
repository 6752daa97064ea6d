#include "runtime/device_hooks.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "runtime/context.h"
#include "runtime/driver.h"
#include "runtime/signature.h"
#include "runtime/storage.h"
#include "runtime/words.h"

// Of the Halide runtime inside this program, there only if the program has code for the device.
extern "C" {
[[gnu::weak]] int (*halide_set_cuda_acquire_context(int (*)(void*, void**, bool)))(void*, void**, bool);
[[gnu::weak]] int (*halide_set_cuda_get_stream(int (*)(void*, void*, void**)))(void*, void*, void**);
[[gnu::weak]] const halide_device_interface_t* halide_cuda_device_interface();
[[gnu::weak]] const halide_device_interface_t* halide_opencl_device_interface();
}

namespace attune {
namespace {

using CudaContextOf = int (*)(void*, void**, bool);
using CudaStreamOf = int (*)(void*, void*, void**);

// Halide's own, for other Halide code in the program.
CudaContextOf earlier_cuda_context = nullptr;
CudaStreamOf earlier_cuda_stream = nullptr;

/// Without a call, as when a file is closed, there is no context: nothing is to be done in one.
int no_context(bool is_to_be_made) { return is_to_be_made ? halide_error_code_generic_error : 0; }

int on_cuda_context(void* user_context, void** context, bool is_to_be_made) {
  const CallContext* call = CallContext::from(user_context);
  *context = call == nullptr ? nullptr : call->device_queue().context;
  return call == nullptr ? no_context(is_to_be_made) : 0;
}

int on_cuda_stream(void* user_context, void*, void** stream) {
  const CallContext* call = CallContext::from(user_context);
  *stream = call == nullptr ? nullptr : call->device_queue().queue;
  return 0;
}

int on_opencl_context(void* user_context, void** context, void** queue, bool is_to_be_made) {
  const CallContext* call = CallContext::from(user_context);
  *context = call == nullptr ? nullptr : call->device_queue().context;
  *queue = call == nullptr ? nullptr : call->device_queue().queue;
  return call == nullptr ? no_context(is_to_be_made) : 0;
}

int on_own_cuda_context(void* user_context, void** context, bool is_to_be_made) {
  const bool is_ours = CallContext::from(user_context) != nullptr;
  return (is_ours ? on_cuda_context : earlier_cuda_context)(user_context, context, is_to_be_made);
}

int on_own_cuda_stream(void* user_context, void* context, void** stream) {
  const bool is_ours = CallContext::from(user_context) != nullptr;
  return (is_ours ? on_cuda_stream : earlier_cuda_stream)(user_context, context, stream);
}

/// Whose drivers' functions are loaded. A file's is forgotten when it is closed: another may get its address.
struct ReadyInterfaces {
  std::mutex mutex;
  std::vector<const halide_device_interface_t*> interfaces;
};

ReadyInterfaces& ready_interfaces() {
  static auto* ready = new ReadyInterfaces;  // never destroyed: files may be closed after main
  return *ready;
}

}  // namespace

const halide_device_interface_t* interface_of(const attune_hooks_v2* hooks, attune_device device) {
  if (device == attune_vulkan) return nullptr;  // its runtime finds the driver itself
  if (device == attune_cuda) return hooks != nullptr ? hooks->cuda_interface() : halide_cuda_device_interface();
  return hooks != nullptr ? hooks->opencl_interface() : halide_opencl_device_interface();
}

void take_over_own_devices() {
  if (halide_set_cuda_acquire_context == nullptr) return;
  earlier_cuda_context = halide_set_cuda_acquire_context(on_own_cuda_context);
  earlier_cuda_stream = halide_set_cuda_get_stream(on_own_cuda_stream);
}

void take_over_devices(const attune_hooks_v2& hooks) {
  if (hooks.set_cuda_context != nullptr) {
    hooks.set_cuda_context(reinterpret_cast<void*>(on_cuda_context));
    hooks.set_cuda_stream(reinterpret_cast<void*>(on_cuda_stream));
  }
  if (hooks.set_opencl_context != nullptr) hooks.set_opencl_context(reinterpret_cast<void*>(on_opencl_context));
}

Result<void> check_hooks(const attune_kernel_v5& kernel, const attune_hooks_v2* hooks) {
  const bool has_cuda = hooks != nullptr ? hooks->cuda_interface != nullptr : halide_cuda_device_interface != nullptr;
  const bool has_opencl = hooks != nullptr ? hooks->opencl_interface != nullptr : halide_opencl_device_interface != nullptr;
  for (const attune_step_v1& step : steps_of(kernel))
    for (const attune_code_v3& code : codes_of(step))
      if ((code.device == attune_cuda && !has_cuda) || (code.device == attune_opencl && !has_opencl))
        return Error{words(who(kernel), ": holds code for ", name_of(static_cast<attune_device>(code.device)), ", and its ",
                           hooks != nullptr ? "file" : "program", " has no Halide runtime for that")};
  return {};
}

int make_ready(const halide_device_interface_t& interface, CallContext& context) {
  ReadyInterfaces& ready = ready_interfaces();
  const std::scoped_lock lock(ready.mutex);
  if (std::ranges::find(ready.interfaces, &interface) != ready.interfaces.end()) return 0;
  int major = 0, minor = 0;
  const int status = interface.compute_capability(&context, &major, &minor);
  if (status == 0) ready.interfaces.push_back(&interface);
  return status;
}

void release_devices(const attune_hooks_v2& hooks) {
  ReadyInterfaces& ready = ready_interfaces();
  const auto is_forgotten = [&](const halide_device_interface_t* interface) {
    const std::scoped_lock lock(ready.mutex);
    return std::erase(ready.interfaces, interface) != 0;
  };
  if (hooks.opencl_interface != nullptr) is_forgotten(hooks.opencl_interface());
  if (hooks.cuda_interface == nullptr || !is_forgotten(hooks.cuda_interface())) return;
  for (DriverDevice* used : devices_in_use(attune_cuda)) {
    const Result<DeviceQueue> queue = used->own_queue();
    if (!queue || !used->wait_for_all()) continue;
    CallContext context(nullptr, *queue);
    hooks.cuda_interface()->device_release(&context, hooks.cuda_interface());
  }
}

}  // namespace attune

/// The Halide runtime for OpenCL inside this program asks this: its own function is weak. Other Halide code in the program gets the first device.
extern "C" int halide_acquire_cl_context(void* user_context, void** context, void** queue, bool is_to_be_made) {
  if (attune::CallContext::from(user_context) != nullptr || !is_to_be_made)
    return attune::on_opencl_context(user_context, context, queue, is_to_be_made);
  const attune::Result<attune::DriverDevice*> device = attune::find_device(attune_opencl);
  if (!device) return halide_error_code_generic_error;
  const attune::Result<attune::DeviceQueue> own = (*device)->own_queue();
  if (!own) return halide_error_code_generic_error;
  *context = own->context;
  *queue = own->queue;
  return 0;
}
