#include "tests/ptx/driver.h"

#include <catch2/catch.hpp>

#include <dlfcn.h>

namespace attune {
namespace {

void* driver() {
  INFO("the driver " PTX_DRIVER);
  static void* const opened = dlopen(PTX_DRIVER, RTLD_NOW | RTLD_GLOBAL);
  REQUIRE(opened != nullptr);
  return opened;
}

}  // namespace

void load_driver() { driver(); }

ptx::DriverLog& driver_log() {
  auto* const log = reinterpret_cast<ptx::DriverLog* (*)()>(dlsym(driver(), "ptx_driver_log"));
  REQUIRE(log != nullptr);
  return *log();
}

ptx::Counts counts_of(const std::function<void()>& call) {
  driver_log().counts = {};
  call();
  return driver_log().counts;
}

}  // namespace attune
