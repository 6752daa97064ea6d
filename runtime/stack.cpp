#include "runtime/stack.h"

#include <pthread.h>

#include <cstdint>

namespace attune {
namespace {

/// The stack that the operating system gave a thread; from 0 to 0 where that is unknown.
struct Bounds {
  std::uintptr_t lowest, end;
};

Bounds bounds_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {0, 0};
  void* lowest = nullptr;
  std::size_t bytes = 0, guard = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0 && pthread_attr_getguardsize(&attributes, &guard) == 0;
  pthread_attr_destroy(&attributes);
  const auto address = reinterpret_cast<std::uintptr_t>(lowest);
  return is_known ? Bounds{address + guard, address + bytes} : Bounds{0, 0};
}

}  // namespace

std::size_t stack_bytes_left() {
  // Asked once in each thread: of the first thread it is a line of /proc/self/maps.
  thread_local Bounds stack{};
  thread_local bool is_asked = false;
  if (!is_asked) {
    stack = bounds_of_this_thread();
    is_asked = true;
  }
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return stack.lowest <= here && here < stack.end ? here - stack.lowest : SIZE_MAX;
}

}  // namespace attune
