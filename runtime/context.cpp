#include "runtime/context.h"

#include <HalideRuntime.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "runtime/device_hooks.h"
#include "runtime/fork.h"
#include "runtime/pool_threads.h"
#include "runtime/stack.h"
#include "runtime/threads.h"
#include "runtime/words.h"

namespace attune {
namespace {

// Read by every parallel loop; Halide's own getter would take the pool's lock.
std::atomic<int> thread_count{1};

// Halide's handlers before ours: errors of other Halide code in the program go there.
halide_error_handler_t earlier_error_handler = nullptr;

void on_error(void* user_context, const char* message) {
  if (CallContext* context = CallContext::from(user_context))
    context->fail(message);
  else
    earlier_error_handler(user_context, message);
}

/// Memory of no bytes, with what may be read on both sides of any. Kernels do not check whether they got it, so it is always there.
alignas(128) constinit std::array<std::byte, 3 * 128> memory_around_nothing{};
std::byte* no_bytes() { return memory_around_nothing.data() + 128; }

void* on_malloc(void* user_context, std::size_t bytes) {
  CallContext* context = CallContext::from(user_context);
  return context == nullptr ? halide_default_malloc(user_context, bytes) : context->take(bytes);
}

void on_free(void* user_context, void* data) {
  if (CallContext* context = CallContext::from(user_context)) context->give_back(data);
  else if (data != nullptr && data != no_bytes()) halide_default_free(user_context, data);
}

/// One iteration, one thread, or a stack that has no room for what a waiting thread runs: runs here, without the pool's lock.
int on_parallel_loop(void* user_context, halide_task_t task, int first, int count, std::uint8_t* closure) {
  if (count > 1 && thread_count.load(std::memory_order_relaxed) > 1 && stack_bytes_left() >= stack_bytes_of_loop) {
    CallContext* context = CallContext::from(user_context);
    // of another program's Halide code nobody knows whether the loop is inside another
    const CallContext::Loop loop(context);
    const PoolUse use(context == nullptr || loop.is_inside_another());
    start_missing_threads();
    return halide_default_do_par_for(user_context, task, first, count, closure);
  }
  for (int i = first; i < first + count; ++i)
    if (const int status = task(user_context, i, closure); status != 0) return status;
  return 0;
}

/// Sets Halide's own number at first and gives it. Halide alone would count every CPU of the machine, also those that this process
/// may not use. It reads HL_NUM_THREADS itself, and takes what is no number for 1.
int set_threads_at_first() {
  int count = 0;  // Halide's choice
  cpu_set_t allowed;
  const char* said = std::getenv("HL_NUM_THREADS");
  if ((said == nullptr || std::atoi(said) < 1) && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    count = std::clamp(CPU_COUNT(&allowed), 1, most_pool_threads);
  halide_set_num_threads(count);
  return halide_get_num_threads();
}

}  // namespace

CallContext* CallContext::from(void* user_context) {
  auto* context = static_cast<CallContext*>(user_context);
  return context != nullptr && context->mark_ == expected_mark ? context : nullptr;
}

void* CallContext::take(std::size_t bytes) {
  if (bytes == 0) return no_bytes();
  if (workspace_ == nullptr) {
    void* near = near_memory_.take(bytes);
    return near != nullptr ? near : halide_default_malloc(this, bytes);
  }
  void* data = workspace_->take(bytes);
  if (data == nullptr && !workspace_->is_measuring()) workspace_is_short_.store(true, std::memory_order_relaxed);
  return data;
}

void CallContext::give_back(void* data) {
  if (data == nullptr || data == no_bytes()) return;
  if (workspace_ != nullptr) workspace_->give_back(data);
  else if (near_memory_.holds(data)) near_memory_.give_back();
  else halide_default_free(this, data);
}

void CallContext::fail(const char* message) {
  if (has_failed_.exchange(true, std::memory_order_acq_rel)) return;
  const std::size_t length = std::min(std::strlen(message), message_.size() - 1);
  *std::copy_n(message, length, message_.begin()) = 0;
}

std::string CallContext::message() const {
  std::string text = has_failed() ? message_.data() : "";
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return text;
}

void take_over_own_halide() {
  static std::once_flag once;
  std::call_once(once, [] {
    prepare_for_forks();
    earlier_error_handler = halide_set_error_handler(on_error);
    halide_set_custom_malloc(on_malloc);
    halide_set_custom_free(on_free);
    halide_set_custom_do_par_for(on_parallel_loop);
    take_over_own_devices();
    thread_count = set_threads_at_first();
  });
}

void take_over(const attune_hooks_v2& hooks) {
  take_over_own_halide();
  hooks.set_error_handler(reinterpret_cast<void*>(on_error));
  hooks.set_malloc(reinterpret_cast<void*>(on_malloc));
  hooks.set_free(reinterpret_cast<void*>(on_free));
  hooks.set_do_par_for(reinterpret_cast<void*>(on_parallel_loop));
  take_over_devices(hooks);
}

int num_threads() {
  take_over_own_halide();
  return thread_count;
}

Result<void> set_num_threads(int count) {
  take_over_own_halide();
  if (count < 1 || count > most_pool_threads) return Error{words("set_num_threads: got ", count, "; expected 1 to ", most_pool_threads)};
  const PoolUse use(false);
  halide_set_num_threads(count);
  thread_count = count;
  return {};
}

}  // namespace attune
