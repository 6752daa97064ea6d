/// NVIDIA's assembler, where it is installed.
#pragma once

#include <cstdlib>
#include <string>

namespace attune {

/// The program that set-up installs, or another one; empty if it is neither on the PATH nor where CUDA is installed.
inline std::string ptxas() {
  for (const char* path : {ATTUNE_PTXAS, "ptxas", "/usr/local/cuda/bin/ptxas"})
    if (std::system((std::string(path) + " --version > /dev/null 2>&1").c_str()) == 0) return path;
  return {};
}

}  // namespace attune
