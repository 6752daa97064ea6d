#include "runtime/device_call.h"

#include <utility>

#include "runtime/context.h"
#include "runtime/device_hooks.h"

namespace attune {
namespace {

/// Halide describes a part of a cl_mem as a crop of it.
bool is_cropped(const Tensor& tensor) { return tensor.device == attune_opencl && tensor.byte_offset != 0; }

/// `buffer` becomes one of the memory behind the offset, which is checked: a multiple of an element's bytes.
int wrap_behind_offset(void* user_context, const halide_device_interface_t& interface, const Tensor& tensor, halide_buffer_t& buffer) {
  halide_dimension_t all(0, 1, 1), rest(static_cast<std::int32_t>(tensor.byte_offset / bytes_of(tensor.storage)), 1, 1);
  halide_buffer_t whole{}, cropped{};
  for (auto& [part, dim] : {std::pair<halide_buffer_t&, halide_dimension_t&>(whole, all), {cropped, rest}}) {
    part.type = buffer.type;
    part.dimensions = 1;
    part.dim = &dim;
  }
  int status = interface.wrap_native(user_context, &whole, reinterpret_cast<std::uintptr_t>(tensor.data), &interface);
  if (status != 0) return status;
  status = interface.device_crop(user_context, &whole, &cropped);
  const int detached = interface.detach_native(user_context, &whole);
  if (status == 0) {
    buffer.device = cropped.device;
    buffer.device_interface = cropped.device_interface;
  }
  return status != 0 ? status : detached;
}

int free_on_device(void* user_context, const Tensor& tensor, halide_buffer_t& buffer) {
  const halide_device_interface_t& interface = *buffer.device_interface;
  // Codes took memory for what is on the host, and for what has no elements.
  if (tensor.device == attune_cpu || tensor.is_empty()) return interface.device_free(user_context, &buffer);
  return is_cropped(tensor) ? interface.device_release_crop(user_context, &buffer) : interface.detach_native(user_context, &buffer);
}

}  // namespace

int wrap_on_device(CallContext& context, const halide_device_interface_t& interface, Arguments arguments, CallBuffers& call) {
  void* const user_context = &context;
  if (const int status = make_ready(interface, context); status != 0) return status;
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    const Tensor& tensor = *arguments[t];
    if (tensor.device == attune_cpu || tensor.is_empty()) continue;
    halide_buffer_t& buffer = call.buffers[t];
    const std::uintptr_t handle = tensor.device == attune_opencl ? reinterpret_cast<std::uintptr_t>(tensor.data) : address_of(tensor);
    const int status = is_cropped(tensor) ? wrap_behind_offset(user_context, interface, tensor, buffer)
                                          : interface.wrap_native(user_context, &buffer, handle, &interface);
    if (status != 0) return status;
  }
  return 0;
}

int finish_on_device(void* user_context, const attune_kernel_v5& kernel, Arguments arguments, CallBuffers& call, int status) {
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    halide_buffer_t& buffer = call.buffers[t];
    if (buffer.device_interface == nullptr) continue;
    const bool is_fetched = arguments[t]->device == attune_cpu && is_written(kernel.tensors[t]);
    if (status == 0 && is_fetched && buffer.device_dirty() && buffer.number_of_elements() > 0)
      status = buffer.device_interface->copy_to_host(user_context, &buffer);
    const int freed = free_on_device(user_context, *arguments[t], buffer);
    if (status == 0) status = freed;
  }
  return status;
}

}  // namespace attune
