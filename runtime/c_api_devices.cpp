#include "runtime/attune.h"
#include "runtime/c_handles.h"
#include "runtime/driver_device.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// The device that a kernel runs on.
Result<DriverDevice*> device_of(const attune_kernel* kernel) {
  if (kernel == nullptr) return Error{"attune_device: the kernel is null"};
  DriverDevice* device = kernel->kernel.device();
  if (device == nullptr)
    return Error{words("attune_device: kernel '", kernel->kernel.name(), "' runs on the cpu; attune_find_kernel_on names a device")};
  return device;
}

/// Calls `use` with the device and the queue for the stream.
template <class Use>
Result<void> with_queue(const attune_kernel* kernel, void* stream, const Use& use) {
  const Result<DriverDevice*> device = device_of(kernel);
  if (!device) return device.error();
  const Result<DeviceQueue> queue = (*device)->queue_of(stream);
  return queue ? use(**device, *queue) : queue.error();
}

}  // namespace
}  // namespace attune

extern "C" {

int attune_device_of(const struct attune_kernel* kernel, attune_place* place) {
  return attune::guarded(-1, [&]() -> attune::Result<void> {
    const attune::Result<attune::DriverDevice*> device = attune::device_of(kernel);
    if (!device) return device.error();
    if (place != nullptr) *place = {(*device)->kind(), (*device)->number(), 0};
    return {};
  });
}

const char* attune_device_name(const struct attune_kernel* kernel) {
  const attune::DriverDevice* device = kernel == nullptr ? nullptr : kernel->kernel.device();
  return device == nullptr ? nullptr : device->name().c_str();
}

void* attune_device_allocate(const struct attune_kernel* kernel, size_t bytes) {
  return attune::guarded<void*>(nullptr, [&]() -> attune::Result<void*> {
    const attune::Result<attune::DriverDevice*> device = attune::device_of(kernel);
    if (!device) return device.error();
    if (bytes == 0) return attune::Error{"attune_device_allocate: got 0 bytes; expected more"};
    return (*device)->allocate(bytes);
  });
}

void attune_device_free(const struct attune_kernel* kernel, void* memory) {
  if (memory == nullptr) return;
  attune::guarded(-1, [&]() -> attune::Result<void> {
    const attune::Result<attune::DriverDevice*> device = attune::device_of(kernel);
    if (!device) return device.error();
    (*device)->release(memory);
    return {};
  });
}

int attune_device_write(const struct attune_kernel* kernel, void* memory, const void* from, size_t bytes, void* stream) {
  return attune::guarded(-1, [&] {
    return attune::with_queue(
        kernel, stream, [&](attune::DriverDevice& device, const attune::DeviceQueue& queue) { return device.write(memory, from, bytes, queue); });
  });
}

int attune_device_read(const struct attune_kernel* kernel, const void* memory, void* to, size_t bytes, void* stream) {
  return attune::guarded(-1, [&] {
    return attune::with_queue(kernel, stream,
                              [&](attune::DriverDevice& device, const attune::DeviceQueue& queue) { return device.read(memory, to, bytes, queue); });
  });
}
}
