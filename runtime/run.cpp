#include "runtime/run.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include "runtime/context.h"
#include "runtime/device_call.h"
#include "runtime/device_hooks.h"
#include "runtime/stack.h"
#include "runtime/sweeps.h"
#include "runtime/words.h"

namespace attune {
namespace {

Error failure(const attune_kernel_v5& kernel, std::string_view target, const CallContext& context, int status) {
  if (context.workspace_is_short())
    return {words(who(kernel), ": its workspace is too small: it has ", context.workspace()->size_bytes(),
                  " bytes; this call takes at least ", context.workspace()->peak_bytes(),
                  ", and a call with an empty Workspace measures what is enough")};
  if (status == halide_error_code_out_of_memory) return {words(who(kernel), ": there is no memory for what it stores between its stages")};
  const std::string message = context.message();
  if (status == halide_error_code_buffer_allocation_too_large && message.empty())
    return {words(who(kernel), ": what it stores between its stages has too many elements: one tensor has more than 2147483647")};
  if (status == halide_error_code_explicit_bounds_too_small || status == halide_error_code_storage_bound_too_small)
    return {words(who(kernel), ": its code for ", target, " would store more than its schedule has room for at these extents; nothing is wrong with the call, the compiler made a wrong kernel")};
  return {words(who(kernel), ": its code for ", target, " stopped with Halide's error ", status, ": ",
                message.empty() ? "no reason was given" : message)};
}

/// A sentence that needs no memory where there is none left for another.
Error said(const attune_kernel_v5& kernel, std::string_view target, const CallContext& context, int status) {
  try {
    return failure(kernel, target, context, status);
  } catch (const std::bad_alloc&) {
    return {"out of memory"};  // short enough to lie in the string itself
  }
}

/// The steps of one call.
class Steps {
 public:
  Steps(const CheckedCall& call, CallContext& context, CallBuffers& buffers, const StoredBuffers& stored)
      : call_(call), context_(context), buffers_(buffers), stored_(stored), user_context_(&context) {
    std::ranges::copy(call.extents, all_extents_.begin());
    add_views(call.kernel, views_);
  }
  Steps(const Steps&) = delete;

  /// All of them, up to one that fails. Gives its error code, or 0.
  int run() {
    int status = 0;
    for (std::int32_t number = 0; number < call_.kernel.step_count && status == 0; ++number) {
      const attune_sweep_v1* sweep = sweep_at(call_.kernel, number);
      status = sweep == nullptr ? run_step(number, nullptr) : run(*sweep);
      if (sweep != nullptr) number += sweep->step_count - 1;
      release_after(number, status);
    }
    if (call_.target.device == attune_cpu) return status;
    return finish_on_device(user_context_, call_.kernel, call_.arguments, buffers_, status);
  }

 private:
  halide_buffer_t& buffer(std::int32_t tensor) {
    const auto number = static_cast<std::size_t>(tensor), arguments = call_.arguments.size(), stored = stored_of(call_.kernel).size();
    if (number >= arguments + stored) return views_.buffers[number - arguments - stored];
    return number < arguments ? buffers_.buffers[number] : stored_[number - arguments];
  }

  std::span<const std::int64_t> all_extents() const { return {all_extents_.data(), call_.extents.size()}; }

  /// Calls visit with each view that the step has, its buffer, and that of the whole.
  void for_views(const attune_step_v1& step, auto visit) {
    if (call_.kernel.view_count == 0) return;
    for (const std::int32_t tensor : tensors_of(step))
      if (const attune_view_v1* view = view_at(call_.kernel, tensor)) visit(*view, buffer(tensor), buffer(view->tensor));
  }

  /// The steps of a sweep for one block after the other.
  int run(const attune_sweep_v1& sweep) {
    int status = 0;
    for (BlockSweep blocks(call_.kernel, sweep, all_extents_); status == 0 && blocks.next();) {
      for (std::size_t t = 0; t < stored_of(call_.kernel).size(); ++t)
        if (is_swept(call_.kernel, stored_of(call_.kernel)[t])) stored_.describe(call_.kernel, t, all_extents_);
      for (std::int32_t number = sweep.first_step; number < sweep.first_step + sweep.step_count && status == 0; ++number) status = run_step(number, &sweep);
    }
    return status;
  }

  /// `sweep`: that the step is in, or null.
  int run_step(std::int32_t number, const attune_sweep_v1* sweep) {
    const int status = run_code(static_cast<std::size_t>(number), sweep);
    if (context_.workspace() != nullptr) context_.workspace()->next_step();
    return status;
  }

  int run_code(std::size_t number, const attune_sweep_v1* sweep) {
    const attune_step_v1& step = steps_of(call_.kernel)[number];
    for_views(step, [&](const attune_view_v1& described, halide_buffer_t& view, const halide_buffer_t& whole) {
      describe_view(described, all_extents_, whole, view);
      share_memory(whole, view);
      if (sweep != nullptr && view.host != nullptr) view.host += first_of_view(*sweep, described, all_extents_, whole) * view.type.bytes();
    });
    // A call whose outputs are all empty does not come here: of the only step one has elements.
    const auto is_empty = [&](std::int32_t tensor) { return buffer(tensor).number_of_elements() == 0; };
    if (call_.kernel.step_count > 1 && std::ranges::all_of(outputs_of(step), is_empty)) return 0;
    void** pointer = pointers_.data();
    *pointer++ = &user_context_;
    for (const std::int32_t tensor : inputs_of(step)) *pointer++ = &buffer(tensor);
    std::int32_t* extent = extents_.data();
    for (const std::int32_t dim : dims_of(step)) {
      *extent = static_cast<std::int32_t>(all_extents_[static_cast<std::size_t>(dim)]);
      *pointer++ = extent++;
    }
    for (const std::int32_t tensor : outputs_of(step)) *pointer++ = &buffer(tensor);
    const int status = choose_code(call_.target.codes[number], all_extents())->run(pointers_.data());
    if (call_.target.device != attune_cpu)
      for_views(step, [](const attune_view_v1&, const halide_buffer_t& view, halide_buffer_t& whole) { share_memory(view, whole); });
    return status;
  }

  /// Frees on a device what no later step reads; all of it if none comes.
  void release_after(std::int32_t step, int status) {
    if (call_.target.device == attune_cpu) return;
    for (std::size_t t = 0; t < call_.lifetimes.size(); ++t) {
      halide_buffer_t& stored = stored_[t];
      if (stored.device_interface != nullptr && (call_.lifetimes[t].last <= step || status != 0))
        stored.device_interface->device_free(user_context_, &stored);
    }
  }

  const CheckedCall& call_;
  CallContext& context_;
  CallBuffers& buffers_;
  StoredBuffers stored_;
  ViewBuffers views_;
  void* user_context_;
  DimExtents all_extents_;  // of the kernel's dims, in a sweep those of the block that it is at
  std::array<std::int32_t, max_dims> extents_;  // of the step's dims
  std::array<void*, 1 + max_tensors + max_stored + max_views + max_dims> pointers_;
};

static_assert(sizeof(CallContext) + sizeof(CallBuffers) + sizeof(Steps) + sizeof(StoredPlaces) < 48 * 1024, "stack.h says how much of the stack these take");

/// Refuses memory that the driver of the call's device does not know.
Result<void> check_on_device(const CheckedCall& call, const DeviceQueue& queue) {
  for (std::size_t t = 0; t < call.arguments.size(); ++t) {
    const Tensor& given = *call.arguments[t];
    if (given.device == attune_cpu || given.is_empty()) continue;
    const Reach reach = reach_of(given);
    const std::int64_t bytes = bytes_of(given.storage);
    std::int64_t first = 0, end = 0;
    if (__builtin_add_overflow(given.byte_offset, reach.first * bytes, &first) || __builtin_add_overflow(given.byte_offset, (reach.last + 1) * bytes, &end))
      return Error{words(who(call.kernel, tensors_of(call.kernel)[t]), " begins ", given.byte_offset, " bytes into its memory, which no memory has")};
    if (given.device == attune_opencl && given.byte_offset / bytes > INT32_MAX)
      return Error{words(who(call.kernel, tensors_of(call.kernel)[t]), " begins ", given.byte_offset / bytes, " elements into its cl_mem; at most ", INT32_MAX,
                         " can be counted")};
    if (const std::string problem = call.device->memory_problem(given.data, first, end, queue); !problem.empty())
      return Error{words(who(call.kernel, tensors_of(call.kernel)[t]), problem)};
  }
  return {};
}

/// Whether the call has to wait for its work on the device: nobody else can where it has no stream, and the host's memory, which is also what stands
/// for inputs without elements, is the caller's again.
bool has_to_wait(const CheckedCall& call) {
  return call.stream == nullptr || empty_row_bytes(call.kernel, call.arguments, call.extents) > 0 ||
         std::ranges::any_of(call.arguments, [](const Tensor* tensor) { return tensor->device == attune_cpu && !tensor->is_empty(); });
}

/// The error code of the steps in a block of memory: first the row for inputs without elements, then what the steps store.
int run_steps_in(std::byte* block, std::size_t row_bytes, const CheckedCall& call, CallContext& context, const StoredPlaces& places) {
  std::fill_n(block, row_bytes, std::byte{0});
  CallBuffers buffers;
  fill_buffers(call.kernel, call.arguments, call.target.device, block, buffers);
  if (const halide_device_interface_t* interface = call.device != nullptr ? interface_of(call.hooks, call.device->kind()) : nullptr;
      interface != nullptr)
    if (const int status = wrap_on_device(context, *interface, call.arguments, buffers); status != 0)
      return finish_on_device(&context, call.kernel, call.arguments, buffers, status);
  if (call.kernel.stored_count == 0) return Steps(call, context, buffers, {}).run();
  const StoredBuffers stored(call.kernel, call.extents, places, block + row_bytes);
  for (std::size_t t = 0; call.device != nullptr && t < call.lifetimes.size(); ++t) stored[t].host = nullptr;
  return Steps(call, context, buffers, stored).run();
}

/// The same in a block that it takes, if anything needs one.
int run_steps(const CheckedCall& call, CallContext& context, const StoredPlaces& places) {
  const std::size_t row_bytes = empty_row_bytes(call.kernel, call.arguments, call.extents);
  const std::size_t bytes = row_bytes + StoredBuffers::block_bytes(call.kernel, places);
  if (bytes == 0) return run_steps_in(nullptr, 0, call, context, places);
  auto* block = static_cast<std::byte*>(context.take(bytes));
  if (block == nullptr) return halide_error_code_out_of_memory;
  if (context.workspace() != nullptr) context.workspace()->keep();
  const int status = run_steps_in(block, row_bytes, call, context, places);
  if (context.workspace() == nullptr) context.give_back(block);
  return status;
}

/// Runs the steps of a call, on a device behind what is in the queue. A part of its callers, one of which short calls have on the stack then.
[[gnu::always_inline]] inline Result<void> run_in(const CheckedCall& call, const DeviceQueue& queue, Workspace* workspace) {
  StoredPlaces places;
  if (call.kernel.stored_count > 0)
    if (Result<void> placed = place_stored(call.kernel, call.lifetimes, call.extents, places); !placed) return placed;
  if (call.device != nullptr) places.bytes = 0;  // of the host; codes take what they store from their device
  if (workspace != nullptr && !workspace->begin())
    return Error{words(who(call.kernel), ": its workspace is in use by another call; a workspace serves one call at a time")};
  CallContext context(workspace, queue);
  const int status = run_steps(call, context, places);
  if (workspace != nullptr) workspace->end();
  if (status != 0 || context.has_failed()) return said(call.kernel, call.target.name, context, status);
  return {};
}

/// Not a part of run(), which asks for the stack before these are on it.
[[gnu::noinline]] Result<void> run_on_stack(const CheckedCall& call, Workspace* workspace) {
  take_over_own_halide();
  return run_in(call, {}, workspace);
}

/// The same on a device.
[[gnu::noinline]] Result<void> run_on_device(const CheckedCall& call, Workspace* workspace) {
  take_over_own_halide();
  const Result<DeviceQueue> queue = call.device->queue_of(call.stream);
  if (!queue) return Error{words(who(call.kernel), ": ", queue.error().message)};
  if (Result<void> known = check_on_device(call, *queue); !known) return known;
  Result<void> ran = run_in(call, *queue, workspace);
  const Result<void> done = has_to_wait(call) ? call.device->wait(*queue) : call.device->submit(*queue);
  if (ran && !done) return Error{words(who(call.kernel), ": ", done.error().message)};
  return ran;
}

}  // namespace

Result<void> check_stack(const attune_kernel_v5& kernel) {
  const std::size_t left = stack_bytes_left();
  if (left >= stack_bytes_of_kernel) return {};
  return Error{words(who(kernel), ": too little is left of this thread's stack: ", left, " bytes; a call takes up to ", stack_bytes_of_call)};
}

Result<void> run(const CheckedCall& call, Workspace* workspace) {
  if (Result<void> stack = check_stack(call.kernel); !stack) return stack;
  return call.device == nullptr ? run_on_stack(call, workspace) : run_on_device(call, workspace);
}

}  // namespace attune
