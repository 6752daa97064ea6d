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
#include "tests/thinned.h"

namespace attune {

/// The extents of all dims of calls of these shapes. A kernel takes of a shape the dims that it has.
inline std::vector<Shape> calls_of(const KernelCase& kernel, std::span<const char* const> shapes) {
  std::vector<Shape> calls;
  for (const char* shape : shapes)
    if (FilledShape filled = kernel.filled(fitting(shape, kernel.graph())); filled.problem.empty()) calls.push_back(std::move(filled.extents));
  return calls;
}

/// Compares at each shape, with other random inputs.
inline void check_calls(const KernelCase& kernel, std::span<const char* const> shapes) {
  std::uint64_t seed = 1;
  for (const char* shape : shapes) CHECK(kernel.difference(fitting(shape, kernel.graph()), seed++) == "");
}

/// The same with the codes that the calls take.
inline void check_shapes(const KernelCase& kernel, std::span<const char* const> shapes) {
  kernel.compile_for(calls_of(kernel, shapes));
  check_calls(kernel, shapes);
}

/// Compiles the codes of some sizes of call alone, of those that the shapes are of: the kernel is a row of a matrix whose columns
/// they are. All other calls take one of these codes, too, which is right for any extents.
inline void keep_to_part(const KernelCase& kernel, std::span<const char* const> shapes, Tried tried, std::size_t row) {
  const std::vector<Shape> calls = calls_of(kernel, shapes);
  std::vector<std::set<StageCode>> sizes, of_call;
  for (const Shape& call : calls) {
    of_call.push_back(kernel.codes_of(call));
    if (std::ranges::find(sizes, of_call.back()) == sizes.end()) sizes.push_back(of_call.back());
  }
  std::vector<Shape> kept;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (is_tried(tried, row, static_cast<std::size_t>(std::ranges::find(sizes, of_call[i]) - sizes.begin()), sizes.size())) kept.push_back(calls[i]);
  kernel.keep_to(kept);
}

/// Compares at each shape with these codes.
inline void check_part(const KernelCase& kernel, std::span<const char* const> shapes, Tried tried, std::size_t row) {
  keep_to_part(kernel, shapes, tried, row);
  check_calls(kernel, shapes);
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
