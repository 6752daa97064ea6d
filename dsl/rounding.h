/// How far the rounding of reals moves the results of a graph: an error analysis on the values that are there.
#pragma once

#include <map>
#include <string>

#include "dsl/interpret.h"

namespace attune {

/// |a - b|; 0 for NaN and NaN and for equal infinities, else infinite where one is not finite.
double distance(double a, double b);

/// Where the reals of a kernel have fewer bits than f32, and which random roundings are tried.
struct Rounding {
  /// Of inputs that are stored in 16 bits: what the rounding of a number moves it by as a rule, relative to it. That is half of what it does at
  /// most: its error is as likely anywhere up to half a step, whose mean square is a third of the greatest, and numbers are on the average one
  /// and a half times what half a step is relative to.
  std::map<std::string, double, std::less<>> units;
  /// The same of operands of matmuls, which kernels may round; 0 where they may not.
  double products = 0;
  static constexpr int fewest = 3;  ///< so often the whole graph is rounded; more often where an output has few elements
  std::uint64_t seed = 1;
};

/// The interpreter's outputs, and `moved`, of the same shape: the farthest that each element came in any of the random roundings (`distance`).
struct RoundedInterpretation {
  Arrays outputs, moved;
  std::string problem;
};

/// Interprets the graph in double precision, and beside it several times with every real result x changed to x (1 + r d), |d| random and about
/// u = 2^-24, of random sign:
/// - r is 1, 0 for an x that f32 holds, unless it is divided by a total, or what the operation says of its kernels (`roundings`: 4 for the exponential);
/// - where the result may be smaller than parts that are rounded (log_sum_exp), it moves by r d of their size (`rounded_size`);
/// - an operation that carries its own results on (recurrence) moves each of them, by d of the size of what is summed (`rounded_reference`);
/// - a sum of n products t (matmul, reduce_sum) moves by d sqrt(E), E = (n sum t^2 - s^2) / 6 + n s^2 / 3, s = sum t: the expected sum of the
///   squares of the partial sums when terms come in random order, each partial sum being rounded once (Higham, Accuracy and Stability of Numerical
///   Algorithms, 2nd ed., section 4.2);
/// - before a product with values stored in 16 bits, weights of a softmax over scores whose operands both are so stored, and others that are made of
///   such scores and may be computed with the product, are rounded as they are: u sqrt(sum t^2) more, with u = 2^-9 of bf16 and 2^-12 of f16;
/// - operands of a matmul that may be rounded (Rounding::products) are: u sqrt(2 sum t^2) more, without the 2 where one is stored in 16 bits, and
///   nothing where both are;
/// - weights of a softmax that are read more than once are off by what exp(x - log_sum_exp(x)) is, with a score x of its own: kernels store them so;
/// - rows that are written in place of an input stored in 16 bits are rounded as they are;
/// - what is beyond f32's range is infinite or zero.
/// What the results move by is the effect of all roundings together, cancellation and correlation included. Results are not yet rounded for storage.
RoundedInterpretation interpret_rounded(const Graph& graph, const Arrays& inputs, const Rounding& rounding);

}  // namespace attune
