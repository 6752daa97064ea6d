#include "tests/ptx/driver_work.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace attune::ptx {

Driver& driver() {
  static auto* made = new Driver;
  return *made;
}

std::vector<Device*>& contexts() {
  thread_local std::vector<Device*> current;
  return current;
}

int capability() {
  if (driver().state.capability != 0) return driver().state.capability;
  const char* const text = std::getenv("PTX_CAPABILITY");
  return text == nullptr ? 90 : static_cast<int>(std::lround(10 * std::atof(text)));
}

int most_shared_bytes() { return (capability() >= 90 ? 227 : 163) << 10; }

Result told(const char* function) {
  const Lock lock(driver().guard);
  DriverState& state = driver().state;
  ++state.calls[function];
  if (state.failing_function != function || state.calls_before-- > 0) return success;
  state.calls_before = 0;
  ++state.failed_calls;
  return static_cast<Result>(state.failing_status);
}

Result do_all(Stream& stream) {
  for (; !stream.work.empty(); stream.work.pop_front())
    if (const Result done = stream.work.front()(); done != success && driver().failure == success) driver().failure = done;
  return driver().failure;
}

Result do_all() {
  for (auto& [handle, stream] : driver().streams) do_all(*stream);
  return driver().failure;
}

Result put(void* handle, std::function<Result()> work) {
  const Lock lock(driver().guard);
  if (contexts().empty()) return invalid_context;
  if (handle == nullptr) {
    const Result before = do_all();
    return before != success ? before : work();
  }
  const auto stream = driver().streams.find(handle);
  if (stream == driver().streams.end() || stream->second->device != contexts().back()) return invalid_handle;
  stream->second->work.push_back(std::move(work));
  return success;
}

Device* device_at(std::uint64_t address) {
  for (Device& device : driver().devices) {
    const auto above = device.sizes.upper_bound(address);
    if (above != device.sizes.begin() && address < std::prev(above)->first + std::prev(above)->second) return &device;
  }
  return nullptr;
}

Result copy_in(std::uint64_t to, const void* from, std::size_t bytes) {
  Device* device = device_at(to);
  if (device == nullptr || !device->memory.write(to, from, bytes)) return invalid_value;
  driver().state.bytes_to_device += bytes;
  return success;
}
Result copy_out(void* to, std::uint64_t from, std::size_t bytes) {
  Device* device = device_at(from);
  if (device == nullptr || !device->memory.read(from, to, bytes)) {
    std::fprintf(stderr, "ptx: a copy of %zu bytes to the host has some that no array holds or nobody wrote\n", bytes);
    return invalid_value;
  }
  driver().state.bytes_to_host += bytes;
  return success;
}
Result copy_inside(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  Device *source = device_at(from), *target = device_at(to);
  std::size_t offset = 0;
  if (source == nullptr || target == nullptr || source->memory.find(from, bytes, offset) == nullptr) return invalid_value;
  driver().state.bytes_inside += bytes;
  return target->memory.write(to, reinterpret_cast<const void*>(from), bytes) ? success : invalid_value;
}

}  // namespace attune::ptx
