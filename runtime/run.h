/// The call of a code object: its buffers, its context, and what its error codes say.
#pragma once

#include "runtime/abi.h"
#include "runtime/arguments.h"
#include "runtime/result.h"
#include "runtime/workspace.h"

namespace attune {

/// Refuses a thread whose stack has no room for what a kernel takes.
Result<void> check_stack(const attune_kernel_v1& kernel);

/// Runs the code on checked arguments, if the stack has room. `workspace` may be null.
Result<void> run(const attune_kernel_v1& kernel, const attune_code_v1& code, Arguments arguments, Workspace* workspace);

}  // namespace attune
