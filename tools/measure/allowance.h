/// How far a kernel's outputs may be from the interpreter's: the one rule, for `check`, the tuner and the tests.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/rounding.h"
#include "runtime/storage.h"

namespace attune {

/// How inputs and outputs are stored, by name; those that it lacks as f32, or as their kind says.
using Storages = std::map<std::string, attune_storage, std::less<>>;

/// For each element of an output: `number`, and `share` of the element's size.
struct Allowance {
  double number = 0, share = 0;
  std::map<std::size_t, double> unsettled;  ///< the elements to which rounding gives another `number`
  double greatest = std::numeric_limits<double>::infinity();  ///< of the storage: what is as near to more as is allowed may be infinite there
  double of(std::size_t element, double expected) const;
};

/// The interpreter's outputs and what a kernel may be off by, or the problem in words.
struct Judge {
  Arrays outputs;
  std::map<std::string, Allowance, std::less<>> allowed;
  std::string problem;
};

/// With `moved` from `interpret_rounded` (dsl/rounding.h):
/// - number = 4 max(moved) of that output, over the elements that rounding moves by at most a hundredth of their size or of the output's root mean
///   square (a sixteenth where operands of products may be rounded to bf16). Kernels of the variants were seen to be off by up to 0.4 max(moved):
///   the factor is for sums in an order that is worse, and unlucky draws;
/// - the other elements, to which the inputs say little (a comparison of two reals that nearly agree, what is left of large numbers that cancel), are
///   *unsettled*: 4 moved for each. More than one in a hundred of an output that are not 0 is a problem: a comparison would say nothing. (What is 0 in
///   double precision cancels exactly, as the gradient of a softmax over one key does, and a kernel's is as near to 0 as rounding leaves it);
/// - share = the rounding of the result itself for its storage, which is the last of several (2^-24 in f32, 2^-8 in bf16,
/// 2^-11 in f16), and the distance
///   of subnormal numbers is added to `number`.
/// Integers and truth values are exact where rounding does not move them.
/// The interpreter sees inputs as they are stored. `products` is what kernels may round operands of products to, if they may.
Judge judge(const Graph& graph, const Arrays& inputs, const Storages& storages, std::optional<attune_storage> products = {});

/// How a kernel's output compares with the interpreter's. NaN agrees with NaN, infinities with themselves
/// and with what the storage cannot hold.
struct Difference {
  std::int64_t differing = 0, elements = 0;
  std::vector<std::int64_t> worst_index;                 ///< the element whose difference is the largest multiple of what it may be
  double got = 0, expected = 0, worst = 0, allowed = 0;  ///< there; `worst` is the absolute difference, infinite where only one is finite
  std::int64_t not_finite = 0;                           ///< how many are expected to be NaN or infinite: where all are, agreement says little
};
Difference compare(const std::vector<double>& got, const Array& expected, const Allowance& allowed);

/// "14208 elements agree, largest difference 3.09e-07, allowed 1.26e-05", with what is said of elements that are not finite; or
/// "3 of 65536 elements differ; worst at [0, 3, 17, 5]: got 0.41271, expected 0.4119, allowed 0.0001"
std::string describe(const Difference& difference);

/// Of the finite elements; 0 without any.
double root_mean_square(const std::vector<double>& values);

}  // namespace attune
