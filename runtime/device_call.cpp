#include "runtime/device_call.h"

namespace attune {

int finish_on_device(void* user_context, const attune_kernel_v3& kernel, CallBuffers& call, int status) {
  for (std::size_t t = 0; t < static_cast<std::size_t>(kernel.tensor_count); ++t) {
    halide_buffer_t& buffer = call.buffers[t];
    if (buffer.device_interface == nullptr) continue;
    if (status == 0 && kernel.tensors[t].is_output != 0 && buffer.device_dirty() && buffer.number_of_elements() > 0)
      status = buffer.device_interface->copy_to_host(user_context, &buffer);
    const int freed = buffer.device_interface->device_free(user_context, &buffer);
    if (status == 0) status = freed;
  }
  return status;
}

}  // namespace attune
