/// From kernels in MLIR's dialects to PTX.
#pragma once

#include <mlir/IR/BuiltinOps.h>

#include <string>

namespace attune::tensor_cores {

/// A context with the dialects that kernels are written in, without threads of its own.
std::unique_ptr<mlir::MLIRContext> kernel_context();

/// The text, or the problem in words: an internal error.
struct PtxAnswer {
  std::string text, problem;
};
/// The GPUs that a text is for: all of compute capability 8.0 or more; or those of 9.0 alone, which have what a warpgroup computes together.
enum class Gpus { from_8_0, of_9_0 };
/// Of a module of llvm.func with operations of arith, math, scf, llvm and nvvm, which it lowers in place; optimised by LLVM.
PtxAnswer ptx_of(mlir::ModuleOp module, Gpus gpus = Gpus::from_8_0);

}  // namespace attune::tensor_cores
