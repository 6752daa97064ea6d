/// How many threads this process has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace attune {

inline std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

}  // namespace attune
