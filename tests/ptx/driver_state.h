/// What tests tell the driver that interprets PTX to do, and what they see of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attune::ptx {

/// A launch as the driver got it.
struct LaunchPlace {
  int device = 0;
  const void* stream = nullptr;
  bool operator==(const LaunchPlace&) const = default;
};

/// Of the whole driver. Its devices are those of the environment variable PTX_DEVICES when it is first asked: 1 without it, none for 0. Their
/// blocks share as much memory as PTX_SHARED_BYTES says, 48 kB without it, and more where a function asks for it.
struct DriverState {
  /// The call of this function fails with `failing_status`, after so many calls that do not; later calls of it fail, too. Empty: none.
  std::string failing_function;
  int failing_status = 0;
  int calls_before = 0;
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of all devices together
  /// Compute capability of the devices, 80 or 90; 0: that of the environment variable PTX_CAPABILITY ("8.0"), 9.0 without it.
  int capability = 0;

  int failed_calls = 0;                                     ///< that a test wanted
  std::map<std::string, std::uint64_t, std::less<>> calls;  ///< by the function's name
  std::uint64_t bytes_to_device = 0, bytes_to_host = 0, bytes_inside = 0;
  std::vector<LaunchPlace> launches;
  std::size_t allocated_bytes = 0;  ///< of all devices at this moment
};

/// An error of cuda.h by its number, as cuGetErrorName has it.
struct DriverError {
  int status;
  const char *name, *text;
};
inline constexpr DriverError driver_errors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

}  // namespace attune::ptx
