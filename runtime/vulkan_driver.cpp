#include <array>
#include <cstdint>

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

struct Vulkan {
  std::int32_t (*create_instance)(const InstanceCreateInfo* info, const void* allocator, void** instance);
  std::int32_t (*devices)(void* instance, std::uint32_t* count, void** devices);
  void (*destroy_instance)(void* instance, const void* allocator);
};

}  // namespace

std::string vulkan_problem() {
  Vulkan vulkan{};
  if (!find_function("vkCreateInstance", vulkan.create_instance) || !find_function("vkEnumeratePhysicalDevices", vulkan.devices) ||
      !find_function("vkDestroyInstance", vulkan.destroy_instance))
    return "its driver lacks functions of Vulkan 1.3";
  const ApplicationInfo application;
  InstanceCreateInfo info;
  info.application = &application;
  void* instance = nullptr;
  if (const int status = vulkan.create_instance(&info, nullptr, &instance); status != 0) return words("its driver is not to be used: vkCreateInstance: error ", status);
  std::uint32_t count = 0;
  const int status = vulkan.devices(instance, &count, nullptr);
  vulkan.destroy_instance(instance, nullptr);
  if (status != 0) return words("its driver is not to be used: vkEnumeratePhysicalDevices: error ", status);
  return count == 0 ? "its driver has no device" : "";
}

}  // namespace attune
