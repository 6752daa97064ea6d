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
/// Of a module of llvm.func with operations of arith, math, scf, llvm and nvvm, which it lowers in place; optimised by LLVM for compute
/// capability 8.0.
PtxAnswer ptx_of(mlir::ModuleOp module);

}  // namespace attune::tensor_cores
