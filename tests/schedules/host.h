/// Machines for tests that run what they compile.
#pragma once

#include <Halide.h>

#include "codegen/targets/machine.h"
#include "tests/jit_kernel.h"

namespace attune {

/// The machine that the test runs on, with vectors of 16, 32 or 64 bytes and the defaults of a target that has such vectors.
inline Machine narrow_machine(int vector_bytes) {
  Machine machine;
  machine.name = vector_bytes == 64 ? "x86-64-v4" : vector_bytes == 32 ? "x86-64-v3" : "arm64";
  machine.vector_bytes = vector_bytes;
  machine.registers = vector_bytes == 32 ? 16 : 32;
  return machine;
}

/// The machine that the test runs on.
inline Machine host_machine() {
  return narrow_machine(jit_target().natural_vector_size<float>() * 4);
}

}  // namespace attune
