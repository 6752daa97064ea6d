#include "tests/ptx/driver.h"

#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace attune {
namespace {

void* driver() {
  INFO("the driver " PTX_DRIVER);
  static void* const opened = dlopen(PTX_DRIVER, RTLD_NOW | RTLD_GLOBAL);
  REQUIRE(opened != nullptr);
  return opened;
}

}  // namespace

void load_driver(int devices) {
  static const int first = devices;
  setenv("PTX_DEVICES", std::to_string(first).c_str(), 1);
  driver();
}

void* driver_address(const char* name) {
  INFO(name);
  void* const address = dlsym(driver(), name);
  REQUIRE(address != nullptr);
  return address;
}

ptx::DriverLog& driver_log() { return *driver_function<ptx::DriverLog* (*)()>("ptx_driver_log")(); }

ptx::DriverState& driver_state() { return *driver_function<ptx::DriverState* (*)()>("ptx_driver_state")(); }

ptx::DriverState& fresh_driver_state() {
  ptx::DriverState& state = driver_state();
  const std::size_t allocated_bytes = state.allocated_bytes;
  state = {};
  state.allocated_bytes = allocated_bytes;
  driver_function<void (*)()>("ptx_forget_failure")();
  return state;
}

ptx::Counts counts_of(const std::function<void()>& call) {
  driver_log().counts = {};
  call();
  return driver_log().counts;
}

}  // namespace attune
