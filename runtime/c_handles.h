/// What the handles of attune.h are, and how its functions fail.
#pragma once

#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/attune.h"
#include "runtime/library.h"

struct attune_kernel {
  explicit attune_kernel(const attune::Kernel& one) : kernel(one), description(one.describe()), targets(one.targets()) {}
  attune::Kernel kernel;
  std::string description;
  std::vector<attune::KernelTarget> targets;
};

struct attune_library {
  std::optional<attune::Library> file;  ///< empty for a linked kernel
  std::vector<attune_kernel> kernels;
  mutable std::mutex mutex;
  mutable std::map<std::pair<std::string, std::string>, attune_kernel> on_devices;  ///< those that were asked for, by name and device
};

namespace attune {

/// What attune_last_error() gives from now on, in this thread.
void tell(std::string_view sentence);

/// Runs `body` and gives its result, 0 for one without a value; a failed one is told and becomes `failed`. No exception reaches C.
template <class T, class Body>
T guarded(T failed, const Body& body) noexcept {
  try {
    auto result = body();
    if constexpr (std::is_same_v<decltype(result), Result<void>>) {
      if (result) return T{};
    } else {
      if (result) return *result;
    }
    tell(result.error().message);
  } catch (const std::bad_alloc&) {
    tell("attune: there is no memory");
  } catch (const std::exception& exception) {
    tell(exception.what());
  }
  return failed;
}

}  // namespace attune
