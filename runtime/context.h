/// CallContext: what a kernel's code reaches through Halide's user context: where errors are said and memory comes from.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/abi.h"
#include "runtime/driver_device.h"
#include "runtime/near_memory.h"
#include "runtime/result.h"
#include "runtime/workspace.h"

namespace attune {

/// Of one call. All threads that work on the call share it.
class CallContext {
 public:
  /// `workspace` may be null: memory then comes from this object and the heap. `queue`: of a call on a device.
  explicit CallContext(Workspace* workspace, DeviceQueue queue = {}) : workspace_(workspace), device_queue_(queue) {}
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  /// The context that `user_context` points to; null if it is none of ours (another program's Halide code has its own).
  static CallContext* from(void* user_context);

  /// Keeps the first message and drops those after it.
  void fail(const char* message);
  /// Only after the kernel has returned.
  std::string message() const;
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }

  const DeviceQueue& device_queue() const { return device_queue_; }

  Workspace* workspace() const { return workspace_; }
  /// Memory for what the call stores, aligned to 128 bytes; null if there is none. Where the call has no workspace, its first few tiles lie
  /// in this object.
  void* take(std::size_t bytes);
  void give_back(void* data);
  bool workspace_is_short() const { return workspace_is_short_.load(std::memory_order_relaxed); }

  /// A parallel loop of the call that runs. The first of them ends after those that its threads begin in it.
  class Loop {
   public:
    /// `context` may be null: of another program's loop nothing is known.
    explicit Loop(CallContext* context)
        : context_(context), others_(context == nullptr ? 0 : context->loops_.fetch_add(1, std::memory_order_relaxed)) {}
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop() {
      if (context_ != nullptr) context_->loops_.fetch_sub(1, std::memory_order_relaxed);
    }
    bool is_inside_another() const { return others_ > 0; }

   private:
    CallContext* context_;
    int others_;
  };

 private:
  static constexpr std::uint64_t expected_mark = 0x6e75747461'6c6c61;  // told from other user contexts by it
  std::uint64_t mark_ = expected_mark;
  Workspace* workspace_;
  DeviceQueue device_queue_;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> workspace_is_short_ = false;
  std::atomic<int> loops_ = 0;
  std::array<char, 512> message_;  ///< ends with 0 once it has_failed()
  NearMemory near_memory_;
};

/// Puts errors, memory, parallel loops and devices of the Halide runtime inside this program into the runtime's hands, once.
void take_over_own_halide();

/// The same for the Halide runtime inside a shared kernel file: its loops run on this program's threads.
void take_over(const attune_hooks_v2& hooks);

}  // namespace attune
