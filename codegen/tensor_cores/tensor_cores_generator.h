/// Tensor cores as a code generator: attention and products on CUDA with f16 and bf16 storage, lowered by MLIR.
#pragma once

#include "codegen/steps/code_generator.h"

namespace attune {

CodeGenerator tensor_cores_generator();

}  // namespace attune
