/// What a warp does together, as code of MLIR: fragments of matrices of 16-bit elements from shared memory, their products, exchanges of lanes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/targets/element.h"
#include "codegen/tensor_cores/number.h"

namespace attune::tensor_cores {

/// Shorthand for the operations that kernels are written in. All integers are i32, all reals f32.
class Code {
 public:
  explicit Code(Builder& builder) : builder(builder) {}

  mlir::Value number(std::int64_t value) const;
  mlir::Value real(double value) const;
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value add(mlir::Value a, std::int64_t b) const { return add(a, number(b)); }
  mlir::Value multiply(mlir::Value a, mlir::Value b) const;
  mlir::Value multiply(mlir::Value a, std::int64_t b) const { return multiply(a, number(b)); }
  /// Of numbers that are not negative.
  mlir::Value divide(mlir::Value a, mlir::Value b) const;
  mlir::Value divide(mlir::Value a, std::int64_t b) const { return divide(a, number(b)); }
  mlir::Value remainder(mlir::Value a, mlir::Value b) const;
  mlir::Value remainder(mlir::Value a, std::int64_t b) const { return remainder(a, number(b)); }
  mlir::Value exclusive_or(mlir::Value a, mlir::Value b) const;
  mlir::Value less(mlir::Value a, mlir::Value b) const;
  mlir::Value both(mlir::Value a, mlir::Value b) const;
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const;
  /// The greater number; the other one where one is NaN.
  mlir::Value greatest(mlir::Value a, mlir::Value b) const;
  /// a * b + c, rounded once.
  mlir::Value fused(mlir::Value a, mlir::Value b, mlir::Value c) const;
  /// 2^x within 2 ulp; what is below 2^-126 is 0.
  mlir::Value power_of_2(mlir::Value x) const;
  void when(mlir::Value condition, const std::function<void()>& body) const;
  using Values = llvm::SmallVector<mlir::Value>;
  /// The values of one of two ways.
  Values either(mlir::Value condition, const std::function<Values()>& one, const std::function<Values()>& other) const;
  /// The values that `body` makes of `start`, again and again while `goes_on` holds of them.
  Values loop(const Values& start, const std::function<mlir::Value(const Values&)>& goes_on, const std::function<Values(const Values&)>& body) const;

  /// `bytes` behind a pointer.
  mlir::Value behind(mlir::Value pointer, mlir::Value bytes) const;
  mlir::Value behind(mlir::Value pointer, std::int64_t bytes) const { return behind(pointer, number(bytes)); }

  void barrier() const;
  /// Of the warp's threads: what each wrote to memory, or waited for, is there for all.
  void warp_barrier() const;
  /// What is loaded behind this place is not loaded before it, which bounds what waits in registers. No instruction for a warp that is together.
  void loads_end() const { warp_barrier(); }
  /// 16 bytes from global to shared memory, of which so many are read, all of them without a number, and the others are zeros; there after
  /// end_copies, wait_for_copies and a barrier.
  void copy(mlir::Value shared, mlir::Value global, mlir::Value bytes) const;
  void end_copies() const;
  /// All of this thread's but those before its last `pending` ends.
  void wait_for_copies(int pending = 0) const;

  /// The value, of 32 or 64 bits, of lane (own number ^ by).
  mlir::Value exchanged(mlir::Value value, int by) const;
  /// The first lane's number: what all lanes have the same of, such that compilers see it.
  mlir::Value of_first_lane(mlir::Value number) const;
  /// Whether it holds in any lane of the warp.
  mlir::Value in_any_lane(mlir::Value condition) const;
  /// Whether it holds in any lane of a block's warps, which pass it on through memory that they share, with barriers before and behind it.
  mlir::Value in_any_warp(mlir::Value condition, mlir::Value shared, mlir::Value warp, mlir::Value lane, int warps) const;

  /// A constant that stays in its loop, with all that is computed of it and of values from outside: these have their registers to themselves.
  mlir::Value number_of_this_turn(std::int32_t value) const { return read_anew(std::to_string(value)); }
  /// A special register or a constant, which with all that is computed of it keeps no registers from where it was read before.
  mlir::Value read_anew(const std::string& source) const;

  /// Four matrices of 8 x 8 elements of 16 bits, or of 8 x 4 words if they are not transposed, of which lane 8 n + r says where row r of matrix n is.
  std::array<mlir::Value, 4> load_matrices(mlir::Value row, bool is_transposed) const;

  Builder& builder;
};

/// Sums of 16 x 8 elements by lanes: those of row lane / 4 and columns 2 (lane % 4) and the next, then the same of row lane / 4 + 8.
using Sums = std::array<mlir::Value, 4>;

/// Sums of a 16 x 16 matrix times a 16 x 8 one, beside what stands there. Registers hold two elements of 16 bits each.
Sums multiplied(const Code& code, Element element, const std::array<mlir::Value, 4>& a, const std::array<mlir::Value, 2>& b, const Sums& c);

/// The same of a 16 x 8 matrix times an 8 x 8 one of TF32, a word of f32 for each element, whose low 13 bits do not count.
Sums multiplied(const Code& code, const std::array<mlir::Value, 4>& a, const std::array<mlir::Value, 2>& b, const Sums& c);

/// Two reals in a register of 16-bit elements, the first in the low half.
mlir::Value packed(const Code& code, Element element, mlir::Value low, mlir::Value high);

}  // namespace attune::tensor_cores
