/// The machine as a stage template needs to know it.
#pragma once

#include <string>

namespace attune {

enum class Device { cpu, opencl, cuda, vulkan };

/// `vector_bytes` is 64, 32 or 16; `registers` is the number of vector registers.
struct Machine {
  std::string name;  ///< of the target
  int vector_bytes = 64;
  int registers = 32;
  bool has_bf16_dot = false;
  bool has_bf16_tiles = false;  ///< tile registers that sum products of bf16 (AMX)
  Device device = Device::cpu;

  bool is_gpu() const { return device != Device::cpu; }
};

}  // namespace attune
