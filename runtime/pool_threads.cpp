#include "runtime/pool_threads.h"

#include <HalideRuntime.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>

#include "runtime/stack.h"

/// A thread as Halide's pool knows it.
struct halide_thread {
  enum class State { unused, missing, started };
  State state;
  pthread_t handle;
  void (*body)(void*);
  void* argument;
};

namespace attune {
namespace {

struct PoolThreads {
  std::mutex mutex;
  std::array<halide_thread, most_pool_threads> threads{};
  std::atomic<int> missing{0};
};

/// Never destroyed: Halide joins its threads after main.
PoolThreads& pool_threads() {
  alignas(PoolThreads) static std::byte memory[sizeof(PoolThreads)];
  static auto* threads = new (memory) PoolThreads;
  return *threads;
}

void* run(void* thread) {
  const auto& self = *static_cast<halide_thread*>(thread);
  self.body(self.argument);
  return nullptr;
}

/// The stack is what the system gives threads, or, where that is too small for a kernel, what a call takes.
bool is_started(halide_thread& thread) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  std::size_t stack_bytes = 0;
  pthread_attr_getstacksize(&attributes, &stack_bytes);
  pthread_attr_setstacksize(&attributes, std::max(stack_bytes, stack_bytes_of_call));
  const bool is_created = pthread_create(&thread.handle, &attributes, run, &thread) == 0;
  pthread_attr_destroy(&attributes);
  if (is_created) thread.state = halide_thread::State::started;
  return is_created;
}

}  // namespace

void start_missing_threads() {
  PoolThreads& pool = pool_threads();
  if (pool.missing.load(std::memory_order_relaxed) == 0) return;
  const std::scoped_lock lock(pool.mutex);
  for (halide_thread& thread : pool.threads)
    if (thread.state == halide_thread::State::missing) {
      if (!is_started(thread)) return;
      --pool.missing;
    }
}

}  // namespace attune

extern "C" {

/// In place of Halide's, which is weak. Null if the pool has more threads than it can.
halide_thread* halide_spawn_thread(void (*body)(void*), void* argument) {
  attune::PoolThreads& pool = attune::pool_threads();
  const std::scoped_lock lock(pool.mutex);
  const auto thread = std::ranges::find(pool.threads, halide_thread::State::unused, &halide_thread::state);
  if (thread == pool.threads.end()) return nullptr;
  *thread = {halide_thread::State::missing, {}, body, argument};
  if (!attune::is_started(*thread)) ++pool.missing;
  return &*thread;
}

/// In place of Halide's, when its pool is shut down: none is started any more.
void halide_join_thread(halide_thread* thread) {
  if (thread == nullptr) return;
  attune::PoolThreads& pool = attune::pool_threads();
  std::unique_lock lock(pool.mutex);
  const bool is_started = thread->state == halide_thread::State::started;
  if (!is_started) --pool.missing;
  const pthread_t handle = thread->handle;
  thread->state = halide_thread::State::unused;
  lock.unlock();
  if (is_started) pthread_join(handle, nullptr);
}
}
