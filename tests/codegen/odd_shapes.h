/// Shapes that kernels are compared with the interpreter at.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <span>

#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"

namespace attune {

/// Compares at each shape, with other random inputs. A kernel takes of a shape the dims that it has.
inline void check_shapes(const KernelCase& kernel, std::span<const char* const> shapes) {
  std::uint64_t seed = 1;
  for (const char* shape : shapes) CHECK(kernel.difference(fitting(shape, kernel.graph()), seed++) == "");
}

}  // namespace attune
