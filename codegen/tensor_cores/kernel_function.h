/// The frame of a kernel: a function of the device with memory that its blocks share.
#pragma once

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

#include <functional>
#include <string>
#include <vector>

#include "codegen/steps/steps.h"
#include "codegen/tensor_cores/number.h"

namespace attune::tensor_cores {

/// While it is built: `builder` stands in its body.
struct KernelFunction {
  Builder& builder;
  mlir::LLVM::LLVMFuncOp function;  ///< with the arguments of step_arguments.h
  mlir::Value shared;               ///< the block's memory, at a multiple of 1024 bytes
};

/// Threads of a block, and bytes that they share: those of the kernel itself, at most 48 kB, or as many as a launch gives it; and how many blocks a
/// multiprocessor has at once at least, which bounds registers.
struct BlockNeeds {
  int threads, shared_bytes;
  bool is_given_by_launch = false;
  int resident = 1;
  std::vector<mlir::Type> more_arguments = {};  ///< of the function, behind those of the step
};

/// A function of the module at whose end `builder` stands, which returns behind what `body` builds.
void build_kernel(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const BlockNeeds& needs,
                  const std::function<void(const KernelFunction&)>& body);

}  // namespace attune::tensor_cores
