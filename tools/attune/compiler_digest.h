/// Which compiler a program has in it.
#pragma once

#include <string_view>

namespace attune {

/// A digest of the libraries that make codes (tools/compiler_digest.cmake): programs with the same make the same codes.
extern const std::string_view compiler_digest;

}  // namespace attune
