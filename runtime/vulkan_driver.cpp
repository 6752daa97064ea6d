#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "runtime/driver.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// What is asked of Vulkan, as vulkan_core.h declares it.
struct ApplicationInfo {
  std::int32_t structure = 0;  // VK_STRUCTURE_TYPE_APPLICATION_INFO
  const void* next = nullptr;
  const char* application = "attune";
  std::uint32_t application_version = 0;
  const char* engine = nullptr;
  std::uint32_t engine_version = 0;
  std::uint32_t api_version = (1U << 22) | (3U << 12);
};
struct InstanceCreateInfo {
  std::int32_t structure = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const ApplicationInfo* application = nullptr;
  std::uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  std::uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
};

/// VkPhysicalDeviceProperties, of which this is read.
struct DeviceProperties {
  std::uint32_t versions_and_numbers[4];
  std::int32_t type;
  char name[256];
  std::byte limits_before[96];
  std::uint32_t storage_buffers;  // limits.maxPerStageDescriptorStorageBuffers
  std::byte limits_between[136];
  std::uint32_t shared_bytes;  // limits.maxComputeSharedMemorySize
  std::byte rest[308];
};
static_assert(sizeof(DeviceProperties) == 824);

struct Vulkan {
  std::int32_t (*create_instance)(const InstanceCreateInfo* info, const void* allocator, void** instance);
  std::int32_t (*devices)(void* instance, std::uint32_t* count, void** devices);
  void (*properties)(void* device, DeviceProperties* properties);
  void (*destroy_instance)(void* instance, const void* allocator);
};

/// The one that Halide's runtime takes, in a context of its own: nobody else's memory and queues go with it.
class VulkanDevice final : public DriverDevice {
 public:
  VulkanDevice(std::string name, std::int64_t shared_bytes, int most_tensors)
      : DriverDevice(attune_vulkan, 0, std::move(name), shared_bytes), most_tensors_(most_tensors) {}

  int most_tensors() const override { return most_tensors_; }
  bool keeps_tensors() const override { return false; }

  Result<DeviceQueue> own_queue() override { return DeviceQueue{}; }
  Result<DeviceQueue> queue_of(void* stream) override {
    if (stream == nullptr) return DeviceQueue{};
    return Error{"vulkan: kernels run in a queue of their own there, and a stream was given; opencl and cuda take one"};
  }
  bool is_in_use() override { return false; }
  Result<void> wait_for_all() override { return {}; }
  Result<void> wait(const DeviceQueue&) override { return {}; }  // copies to the host have waited
  Result<void> submit(const DeviceQueue&) override { return {}; }

  std::string memory_problem(void*, std::int64_t, std::int64_t, const DeviceQueue&) override { return words(" lies on vulkan: ", host_alone); }
  Result<void*> allocate(std::size_t) override { return Error{words("vulkan: ", host_alone)}; }
  void release(void*) override {}
  Result<void> write(void*, const void*, std::size_t, const DeviceQueue&) override { return Error{words("vulkan: ", host_alone)}; }
  Result<void> read(const void*, void*, std::size_t, const DeviceQueue&) override { return Error{words("vulkan: ", host_alone)}; }

 private:
  int most_tensors_;
  static constexpr const char* host_alone = "kernels take tensors of the host there; those of opencl and cuda take tensors on the device, too";
};

}  // namespace

Result<DriverDevices> vulkan_devices() {
  Vulkan vulkan{};
  if (!find_function("vkCreateInstance", vulkan.create_instance) || !find_function("vkEnumeratePhysicalDevices", vulkan.devices) ||
      !find_function("vkGetPhysicalDeviceProperties", vulkan.properties) || !find_function("vkDestroyInstance", vulkan.destroy_instance))
    return Error{"its driver lacks functions of Vulkan 1.3"};
  const ApplicationInfo application;
  InstanceCreateInfo info;
  info.application = &application;
  void* instance = nullptr;
  if (const int status = vulkan.create_instance(&info, nullptr, &instance); status != 0) return Error{words("its driver cannot be used: vkCreateInstance: error ", status)};
  std::array<void*, 16> found{};
  auto count = static_cast<std::uint32_t>(found.size());
  const int status = vulkan.devices(instance, &count, found.data());
  DriverDevices devices;
  if (status >= 0 && count > 0) {
    // Which one of several Halide's runtime takes is not asked: what the least of them has is there.
    std::string name;
    std::uint32_t shared_bytes = std::numeric_limits<std::uint32_t>::max(), storage_buffers = std::numeric_limits<int>::max();
    for (std::uint32_t n = 0; n < count; ++n) {
      DeviceProperties properties{};
      vulkan.properties(found[n], &properties);
      name = properties.name;
      shared_bytes = std::min(shared_bytes, properties.shared_bytes);
      storage_buffers = std::min(storage_buffers, properties.storage_buffers);
    }
    devices.push_back(std::make_unique<VulkanDevice>(count == 1 ? name : words("one of ", count), shared_bytes, static_cast<int>(storage_buffers)));
  }
  vulkan.destroy_instance(instance, nullptr);
  if (status < 0) return Error{words("its driver cannot be used: vkEnumeratePhysicalDevices: error ", status)};
  if (devices.empty()) return Error{"its driver has no device"};
  return devices;
}

}  // namespace attune
