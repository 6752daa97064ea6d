/// The devices of the driver that interprets PTX, their streams, and the work that is put into these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/ptx/driver_state.h"
#include "tests/ptx/launch.h"

namespace attune::ptx {

/// CUresult of cuda.h; their names stand in driver_errors.
enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  invalid_ptx = 218,
  invalid_handle = 400,
  not_found = 500,
  launch_failed = 719,
  not_supported = 801,
};

/// Its address is the primary context of the device.
struct Device {
  int number = 0;
  DeviceMemory memory;
  std::map<std::uint64_t, std::size_t> sizes;  // of its arrays, by address
};

struct Stream {
  Device* device = nullptr;
  std::deque<std::function<Result()>> work;
};

/// The default stream waits for all others, and the first failure of one stays.
struct Driver {
  std::recursive_mutex guard;
  std::deque<Device> devices;
  std::map<void*, std::unique_ptr<Stream>> streams;
  Result failure = success;
  DriverLog log;
  DriverState state;
};

Driver& driver();

/// The thread's contexts, the last on top.
std::vector<Device*>& contexts();

/// Compute capability of the devices, 90 for 9.0.
int capability();
/// Of a block: without asking, and the most that a function may ask for, 227 kB of 9.0 and 163 kB of 8.0.
inline constexpr int default_shared_bytes = 48 << 10;
int most_shared_bytes();

using Lock = std::scoped_lock<std::recursive_mutex>;

/// Counts the call; what a test wants of it, if that is a failure.
Result told(const char* function);

/// Does all work of a stream, or of all streams; gives the first failure of any so far.
Result do_all(Stream& stream);
Result do_all();

/// Work that is done at once on the default stream, behind that of all others, and later on another one.
Result put(void* handle, std::function<Result()> work);

/// The device with an array that holds the address; null if none has.
Device* device_at(std::uint64_t address);

/// Copies of host and devices; an address is of any device.
Result copy_in(std::uint64_t to, const void* from, std::size_t bytes);
Result copy_out(void* to, std::uint64_t from, std::size_t bytes);
Result copy_inside(std::uint64_t to, std::uint64_t from, std::size_t bytes);

}  // namespace attune::ptx
