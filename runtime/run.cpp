#include "runtime/run.h"

#include <new>
#include <string>

#include "runtime/context.h"
#include "runtime/driver.h"
#include "runtime/stack.h"
#include "runtime/words.h"

namespace attune {
namespace {

static_assert(sizeof(CallContext) + sizeof(CallBuffers) < 44 * 1024, "stack.h says how much of the stack these take");

Error failure(const attune_kernel_v1& kernel, const attune_code_v1& code, const CallContext& context, int status) {
  if (context.workspace_is_short())
    return {words(who(kernel), ": its workspace is too small: it has ", context.workspace()->size_bytes(),
                  " bytes; this call takes at least ", context.workspace()->peak_bytes(),
                  ", and a call with an empty Workspace measures what is enough")};
  if (status == halide_error_code_out_of_memory) return {words(who(kernel), ": there is no memory for what it stores between its stages")};
  const std::string message = context.message();
  if (status == halide_error_code_buffer_allocation_too_large && message.empty())
    return {words(who(kernel), ": what it stores between its stages has too many elements: one tensor has more than 2147483647")};
  return {words(who(kernel), ": its code for ", code.target, " stopped with Halide's error ", status, ": ",
                message.empty() ? "no reason was given" : message)};
}

/// A sentence that needs no memory where there is none left for another.
Error said(const attune_kernel_v1& kernel, const attune_code_v1& code, const CallContext& context, int status) {
  try {
    return failure(kernel, code, context, status);
  } catch (const std::bad_alloc&) {
    return {"out of memory"};  // short enough to lie in the string itself
  }
}

/// Not a part of run(), which asks for the stack before these are on it.
[[gnu::noinline]] Result<void> run_on_stack(const attune_kernel_v1& kernel, const attune_code_v1& code, Arguments arguments, Workspace* workspace) {
  take_over_own_halide();
  const auto device = static_cast<attune_device>(code.device);
  CallBuffers call;
  fill_buffers(kernel, arguments, device, call);
  if (workspace != nullptr && !workspace->begin())
    return Error{words(who(kernel), ": its workspace is in use by another call; a workspace serves one call at a time")};
  CallContext context(workspace);
  void* user_context = &context;
  call.pointers[0] = &user_context;
  int status = code.run(call.pointers.data());
  if (device != attune_cpu) status = finish_on_device(user_context, kernel, call, status);
  if (workspace != nullptr) workspace->end();
  if (status != 0 || context.has_failed()) return said(kernel, code, context, status);
  return {};
}

}  // namespace

Result<void> check_stack(const attune_kernel_v1& kernel) {
  const std::size_t left = stack_bytes_left();
  if (left >= stack_bytes_of_kernel) return {};
  return Error{words(who(kernel), ": too little is left of this thread's stack: ", left, " bytes; a call takes up to ", stack_bytes_of_call)};
}

Result<void> run(const attune_kernel_v1& kernel, const attune_code_v1& code, Arguments arguments, Workspace* workspace) {
  if (Result<void> stack = check_stack(kernel); !stack) return stack;
  return run_on_stack(kernel, code, arguments, workspace);
}

}  // namespace attune
