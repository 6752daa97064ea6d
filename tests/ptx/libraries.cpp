/// What the driver that interprets PTX loads without a context, which devices take it, and how much memory a launch may add to what blocks
/// share.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>

#include "tests/ptx/driver.h"

namespace attune {
namespace {

constexpr int no_error = 0, invalid_value = 1, no_binary_for_gpu = 209, invalid_ptx = 218;
constexpr int most_dynamic_shared_bytes = 8, declared_shared_bytes = 1, most_shared_bytes = 97;
constexpr int most_of_90 = 232448, most_of_80 = 166912, without_asking = 49152;

/// A kernel of one thread that stores %ntid.x in the last word of the memory that a launch adds, whose size is its parameter, and reads it
/// again.
std::string touching_last_word(const std::string& target = "sm_80", const std::string& name = "k", const std::string& declared = "") {
  return ".version 8.0\n.target " + target + "\n.address_size 64\n" + declared +
         ".extern .shared .align 1024 .b8 rest[];\n.visible .entry " + name +
         "(\n\t.param .u32 k_param_0\n)\n{\n\t.reg .b32 \t%r<5>;\n\tld.param.b32 \t%r1, [k_param_0];\n\tmov.b32 \t%r2, rest;\n"
         "\tadd.s32 \t%r2, %r2, %r1;\n\tmov.u32 \t%r3, %ntid.x;\n\tst.shared.b32 \t[%r2+-4], %r3;\n\tld.shared.b32 \t%r4, "
         "[%r2+-4];\n\tret;\n}\n";
}

/// A fat binary of texts of PTX, as NVIDIA's fatbinary writes it.
std::string fat_binary(const std::vector<std::string>& texts) {
  std::string entries;
  for (const std::string& text : texts) {
    std::string entry(64, '\0');
    const std::uint16_t kind = 1, version = 0x101;
    const std::uint32_t header_bytes = 64;
    const std::uint64_t bytes = (text.size() + 8) / 8 * 8;
    std::memcpy(entry.data(), &kind, sizeof kind);
    std::memcpy(entry.data() + 2, &version, sizeof version);
    std::memcpy(entry.data() + 4, &header_bytes, sizeof header_bytes);
    std::memcpy(entry.data() + 8, &bytes, sizeof bytes);
    entries += entry + text + std::string(bytes - text.size(), '\0');
  }
  std::string head(16, '\0');
  const std::uint32_t magic = 0xba55ed50;
  const std::uint16_t version = 1, header_bytes = 16;
  const std::uint64_t bytes = entries.size();
  std::memcpy(head.data(), &magic, sizeof magic);
  std::memcpy(head.data() + 4, &version, sizeof version);
  std::memcpy(head.data() + 6, &header_bytes, sizeof header_bytes);
  std::memcpy(head.data() + 8, &bytes, sizeof bytes);
  return head + entries;
}

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  return driver_function<int (*)(Arguments...)>(name)(arguments...);
}

/// The context of device 0 on top of the thread's, while it is there.
struct Current {
  Current() {
    load_driver(2);
    fresh_driver_state();
    void* context = nullptr;
    REQUIRE(call("cuInit", 0U) == no_error);
    REQUIRE(call("cuDevicePrimaryCtxRetain", &context, 0) == no_error);
    REQUIRE(call("cuCtxPushCurrent_v2", context) == no_error);
  }
  ~Current() {
    call("cuCtxPopCurrent_v2", static_cast<void**>(nullptr));
    fresh_driver_state();
  }
};

int load_library(void** library, const std::string& image) {
  const int* const no_options = nullptr;
  void* const* const no_values = nullptr;
  return call("cuLibraryLoadData", library, static_cast<const void*>(image.data()), no_options, no_values, 0U, no_options, no_values, 0U);
}

void* kernel_of(void* library, const char* name = "k") {
  void* kernel = nullptr;
  REQUIRE(call("cuLibraryGetKernel", &kernel, library, name) == no_error);
  return kernel;
}

int launch_with(void* function, unsigned bytes) {
  void* parameters[] = {&bytes};
  return call("cuLaunchKernel", function, 1U, 1U, 1U, 1U, 1U, 1U, bytes, static_cast<void*>(nullptr), static_cast<void**>(parameters),
              static_cast<void**>(nullptr));
}

int set_most(void* kernel, int bytes, int device = 0) {
  return call("cuKernelSetAttribute", most_dynamic_shared_bytes, bytes, kernel, device);
}

int device_attribute(int attribute) {
  int value = 0;
  REQUIRE(call("cuDeviceGetAttribute", &value, attribute, 0) == no_error);
  return value;
}

}  // namespace

TEST_CASE("a launch adds more than 48 kB of shared memory where its kernel was told so, up to what the device has", "[cuda]") {
  const Current current;
  for (const auto& [capability, most] : {std::pair{90, most_of_90}, std::pair{80, most_of_80}}) {
    CAPTURE(capability);
    fresh_driver_state().capability = capability;
    CHECK(device_attribute(75) == capability / 10);
    CHECK(device_attribute(76) == 0);
    CHECK(device_attribute(most_shared_bytes) == most);
    void* library = nullptr;
    REQUIRE(load_library(&library, touching_last_word()) == no_error);
    void* const kernel = kernel_of(library);
    CHECK(launch_with(kernel, without_asking) == no_error);
    CHECK(launch_with(kernel, without_asking + 4) == invalid_value);
    CHECK(set_most(kernel, most, 1) == no_error);  // of another device
    CHECK(launch_with(kernel, without_asking + 4) == invalid_value);
    CHECK(set_most(kernel, most + 1) == invalid_value);
    CHECK(set_most(kernel, 100000) == no_error);
    CHECK(launch_with(kernel, 100000) == no_error);
    CHECK(launch_with(kernel, 100004) == invalid_value);
    CHECK(set_most(kernel, most) == no_error);
    CHECK(launch_with(kernel, static_cast<unsigned>(most)) == no_error);
    CHECK(call("cuLibraryUnload", library) == no_error);
  }
}

TEST_CASE("a program's devices have the capability that its environment says", "[cuda]") {
  const Current current;
  CHECK(device_attribute(75) == 9);
  setenv("PTX_CAPABILITY", "8.6", 1);
  CHECK(device_attribute(75) == 8);
  CHECK(device_attribute(76) == 6);
  unsetenv("PTX_CAPABILITY");
}

TEST_CASE("what a kernel declares counts against what a launch adds, and functions of modules are told as kernels are", "[cuda]") {
  const Current current;
  const std::string text = touching_last_word("sm_80", "k", ".shared .align 16 .b8 own[1024];\n");
  void *module = nullptr, *function = nullptr, *library = nullptr;
  REQUIRE(call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str())) == no_error);
  REQUIRE(call("cuModuleGetFunction", &function, module, "k") == no_error);
  CHECK(launch_with(function, without_asking - 1024) == no_error);
  CHECK(launch_with(function, without_asking - 1020) == invalid_value);
  CHECK(call("cuFuncSetAttribute", function, most_dynamic_shared_bytes, most_of_90 - 1023) == invalid_value);
  CHECK(call("cuFuncSetAttribute", function, most_dynamic_shared_bytes, most_of_90 - 1024) == no_error);
  CHECK(launch_with(function, most_of_90 - 1024) == no_error);
  int declared = 0;
  CHECK(call("cuFuncGetAttribute", &declared, declared_shared_bytes, function) == no_error);
  CHECK(declared == 1024);
  CHECK(call("cuModuleUnload", module) == no_error);
  REQUIRE(load_library(&library, text) == no_error);
  void* of_kernel = nullptr;
  CHECK(call("cuKernelGetFunction", &of_kernel, kernel_of(library)) == no_error);
  CHECK(launch_with(of_kernel, without_asking - 1020) == invalid_value);
  CHECK(set_most(kernel_of(library), 65536) == no_error);
  CHECK(launch_with(of_kernel, 65536) == no_error);
  CHECK(call("cuLibraryUnload", library) == no_error);
  CHECK(load_library(&library, touching_last_word("sm_80", "k", ".shared .align 16 .b8 own[49153];\n")) == 200);
}

TEST_CASE("code for sm_90a is for devices of 9.0 alone, and of several the device's own is taken", "[cuda]") {
  const Current current;
  const std::string general = touching_last_word("sm_80", "general"), special = touching_last_word("sm_90a", "special");
  const auto loaded = [](const std::string& image, int capability) {
    void *library = nullptr, *kernel = nullptr;
    fresh_driver_state().capability = capability;
    const int status = load_library(&library, image);
    if (status != no_error) return std::to_string(status);
    const std::string name = call("cuLibraryGetKernel", &kernel, library, "special") == no_error ? "special" : "general";
    CHECK(launch_with(kernel_of(library, name.c_str()), 4) == no_error);
    CHECK(call("cuLibraryUnload", library) == no_error);
    return name;
  };
  CHECK(loaded(special, 90) == "special");
  CHECK(loaded(special, 80) == std::to_string(invalid_ptx));
  CHECK(loaded(special, 100) == std::to_string(invalid_ptx));
  CHECK(loaded(general, 80) == "general");
  CHECK(loaded(general, 90) == "general");
  CHECK(loaded(fat_binary({special}), 90) == "special");
  CHECK(loaded(fat_binary({special}), 80) == std::to_string(no_binary_for_gpu));
  for (const auto& both : {fat_binary({general, special}), fat_binary({special, general})}) {
    CHECK(loaded(both, 90) == "special");
    CHECK(loaded(both, 80) == "general");
  }
  fresh_driver_state().capability = 80;
  void* module = nullptr;
  CHECK(call("cuModuleLoadData", &module, static_cast<const void*>(special.c_str())) == invalid_ptx);
}

}  // namespace attune
