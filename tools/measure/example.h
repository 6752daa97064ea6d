/// Inputs to try a graph with: extents for its dims, random elements that mean something, and how far a kernel may be off.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dsl/interpret.h"
#include "runtime/abi.h"

namespace attune {

/// Extents by the name of the dim.
using Shape = std::map<std::string, std::int64_t, std::less<>>;

/// An extent for every dim that inputs have: what `given` says, what follows from it by formulas, and odd defaults for the
/// rest (batch 2, heads 3, queries 37, keys 53, depth 64; value_depth is depth). The problem: a dim that the graph does not have.
struct FilledShape {
  Shape extents;
  std::string problem;
};
FilledShape fill_shape(const Graph& graph, const Shape& given);

/// Random inputs: reals are normal, booleans true in 7 of 10 places, integers positions of the dim that they are compared
/// with or chosen along. Every seed gives the same numbers everywhere.
Arrays random_inputs(const Graph& graph, const Shape& extents, std::uint64_t seed);

/// How far element types and the length of sums let a kernel be from the interpreter, for every element of every output.
/// With u = 2^-24, S the largest score of a softmax, F the largest operand of a matmul or sum, M the largest output and K
/// the longest sum:
///   1e-5 max(1, M) + 4 u S F + 4 u sqrt(K) F max(1, F)
/// one rounding of a score s changes its weight by s u; a sum of K rounded products is off by about sqrt(K) u of their size.
/// Storage in bf16 adds 2^-8 (M + F): one rounding of the result, and one of the weights before their product with F.
double tolerance(const Magnitudes& magnitudes, bool has_bf16);

/// How a kernel's output compares with the interpreter's. NaN agrees with NaN, infinities with themselves.
struct Difference {
  std::int64_t differing = 0, elements = 0;
  std::vector<std::int64_t> worst_index;
  double got = 0, expected = 0, worst = 0;  ///< worst: the largest absolute difference, infinite where only one is finite
};
Difference compare(const std::vector<double>& got, const Array& expected, double allowed);

/// "3 of 65536 elements differ; worst at [0, 3, 17, 5]: got 0.41271, expected 0.4119, allowed 0.0001"
std::string describe(const Difference& difference, double allowed);

}  // namespace attune
