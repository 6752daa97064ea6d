/// Constants of the bits of numbers.
#pragma once

#include <Halide.h>

#include <cstdint>

namespace attune {

inline Halide::Expr u32(std::uint32_t x) { return Halide::cast<std::uint32_t>(Halide::Expr(x)); }

}  // namespace attune
