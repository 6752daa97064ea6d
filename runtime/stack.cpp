#include "runtime/stack.h"

#include <pthread.h>

#include <cstdint>

namespace attune {
namespace {

/// The stack that the operating system gave a thread; from 1 to 1 where that is unknown, from 0 to 0 before it is asked.
struct Bounds {
  std::uintptr_t lowest, end;
};

Bounds bounds_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {1, 1};
  void* lowest = nullptr;
  std::size_t bytes = 0, guard = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0 && pthread_attr_getguardsize(&attributes, &guard) == 0;
  pthread_attr_destroy(&attributes);
  const auto address = reinterpret_cast<std::uintptr_t>(lowest);
  return is_known ? Bounds{address + guard, address + bytes} : Bounds{1, 1};
}

/// Of a thread that has not asked, or is on a stack that the operating system knows nothing of.
std::size_t asked(Bounds& stack, std::uintptr_t here) {
  if (stack.end == 0) stack = bounds_of_this_thread();
  return stack.lowest <= here && here < stack.end ? here - stack.lowest : SIZE_MAX;
}

}  // namespace

std::size_t stack_bytes_left() {
  // Asked once in each thread: of the first thread it is a line of /proc/self/maps. (The model initial-exec would read it faster, but the whole
  // library's thread-local memory would then have to fit into what the loader sets aside, and it could not be opened late.)
  thread_local Bounds stack{};
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here - stack.lowest < stack.end - stack.lowest) [[likely]] return here - stack.lowest;
  return asked(stack, here);
}

}  // namespace attune
