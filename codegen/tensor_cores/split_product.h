/// Products of f32 by tensor cores: each real is the sum of two of TF32, and each product three of theirs, summed in f32.
#pragma once

#include "codegen/tensor_cores/warp.h"

namespace attune::tensor_cores {

/// real = high + low but for 2^-23 of it, both of TF32 (8 bits of exponent, 11 of the number), where the low 13 bits of low do not count. A number
/// that is of TF32 itself, as those of bf16 and f16 are, has no low part.
struct SplitReal {
  mlir::Value high, low;  ///< words
};

/// Splits reals, rounding high to the nearest. Of reals of 2^128 - 2^116 and more high is infinite; of these and of NaN low is infinite or NaN, and
/// so all their products are NaN. A *careful* splitter takes two instructions more, and its products are as those of f32: high is finite and an
/// infinity or NaN is in low, where it is multiplied with no zero beside another number.
class Splitter {
 public:
  /// What one splits `of_this_turn` of a loop is split in each of its turns, and keeps no registers between them.
  Splitter(const Code& code, bool is_careful, bool is_of_this_turn = false);
  /// An f32, or a word that is one.
  SplitReal operator()(mlir::Value real) const;

 private:
  const Code& code_;
  mlir::Value half_, largest_;  ///< half of the last bit that TF32 keeps; its largest number, of a careful one
};

/// Adds to sums, of a 16 x 8 matrix times an 8 x 8 one, low high + high low, which is 2^-11 of their product and less, or high high.
void add_corrections(const Code& code, const std::array<SplitReal, 4>& a, const std::array<SplitReal, 2>& b, Sums& sums);
void add_high_product(const Code& code, const std::array<SplitReal, 4>& a, const std::array<SplitReal, 2>& b, Sums& sums);

/// Sums of products apart from those of what is 2^-11 of them and less: these round nothing off the others.
struct SplitSums {
  Sums products, corrections;
};
SplitSums no_sums(const Code& code);
/// Beside what stands there, of a 16 x 8 matrix times an 8 x 8 one: high high, and low high + high low. low low is 2^-22 of the product at most.
void add_product(const Code& code, const std::array<SplitReal, 4>& a, const std::array<SplitReal, 2>& b, SplitSums& sums);
Sums joined(const Code& code, const SplitSums& sums);

}  // namespace attune::tensor_cores
