/// Shapes that kernels are compared with the interpreter at.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/threads.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"

namespace attune {

/// Compares at each shape, with other random inputs. A kernel takes of a shape the dims that it has.
inline void check_shapes(const KernelCase& kernel, std::span<const char* const> shapes) {
  std::vector<Shape> calls;
  for (const char* shape : shapes)
    if (FilledShape filled = kernel.filled(fitting(shape, kernel.graph())); filled.problem.empty()) calls.push_back(std::move(filled.extents));
  kernel.compile_for(calls);
  std::uint64_t seed = 1;
  for (const char* shape : shapes) CHECK(kernel.difference(fitting(shape, kernel.graph()), seed++) == "");
}

/// Whether the results of two calls are the same bit by bit; a NaN is itself then.
inline bool are_same_bits(const std::map<std::string, std::vector<double>>& a, const std::map<std::string, std::vector<double>>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.size() == other.second.size() &&
           std::memcmp(one.second.data(), other.second.data(), one.second.size() * sizeof(double)) == 0;
  });
}

/// Compares calls of each shape on one thread and on three, and on these once more.
inline void check_threads(const KernelCase& kernel, std::span<const char* const> shapes) {
  const int before = num_threads();
  for (const char* shape : shapes) {
    CAPTURE(shape);
    const FilledShape filled = fill_shape(kernel.graph(), parse_shape(fitting(shape, kernel.graph()), "shape").extents);
    REQUIRE(filled.problem == "");
    const Arrays inputs = random_inputs(kernel.graph(), filled.extents, 5);
    REQUIRE(set_num_threads(1));
    const auto alone = kernel.outputs(filled.extents, inputs);
    REQUIRE(set_num_threads(3));
    for (int call = 0; call < 2; ++call) CHECK(are_same_bits(kernel.outputs(filled.extents, inputs), alone));
  }
  REQUIRE(set_num_threads(before));
}

}  // namespace attune
