/// The files beside an object that people and C compilers read.
#pragma once

#include <string>

#include "codegen/output/manifest.h"

namespace attune {

/// NAME.h: C, the manifest's declaration and what the arguments are.
std::string c_header(const Manifest& manifest);
/// NAME.hpp: C++, a function with a parameter for every tensor.
std::string cpp_header(const Manifest& manifest);
/// NAME.json: the manifest for people and tools.
std::string json_sidecar(const Manifest& manifest);

}  // namespace attune
