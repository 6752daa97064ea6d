/// Tensor cores as a code generator: attention and products on CUDA, of bf16, f16 and f32 as stored, lowered by MLIR.
#pragma once

#include "codegen/steps/code_generator.h"

namespace attune {

CodeGenerator tensor_cores_generator();

}  // namespace attune
