/// Machines for tests that run what they compile.
#pragma once

#include "codegen/stage.h"

namespace attune {

/// The machine that the test runs on, with vectors of 16, 32 or 64 bytes.
inline Machine narrow_machine(int vector_bytes) {
  Machine machine;
  machine.name = "host";
  machine.target = Halide::get_jit_target_from_environment();
  machine.vector_bytes = vector_bytes;
  machine.registers = vector_bytes == 64 ? 32 : 16;
  return machine;
}

/// The machine that the test runs on.
inline Machine host_machine() {
  return narrow_machine(Halide::get_jit_target_from_environment().natural_vector_size<float>() * 4);
}

}  // namespace attune
