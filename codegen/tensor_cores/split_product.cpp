#include "codegen/tensor_cores/split_product.h"

#include <mlir/Dialect/Arith/IR/Arith.h>

#include <bit>

namespace attune::tensor_cores {

using mlir::Value;
namespace arith = mlir::arith;

namespace {

Value word_of(const Code& code, Value real) { return code.builder.createOrFold<arith::BitcastOp>(code.builder.getI32Type(), real); }
Value real_of(const Code& code, Value word) { return code.builder.createOrFold<arith::BitcastOp>(code.builder.getF32Type(), word); }

constexpr std::int64_t half_of_last = 0x1000, kept = -0x2000;  // of the 23 bits behind the point TF32 keeps 10
constexpr double largest_tf32 = 0x1.ffcp127;

}  // namespace

Splitter::Splitter(const Code& code, bool is_careful, bool is_of_this_turn) : code_(code) {
  half_ = is_of_this_turn ? code.number_of_this_turn(half_of_last) : code.number(half_of_last);
  if (is_careful)
    largest_ = is_of_this_turn ? real_of(code, code.number_of_this_turn(std::bit_cast<std::int32_t>(static_cast<float>(largest_tf32))))
                               : code.real(largest_tf32);
}

SplitReal Splitter::operator()(Value given) const {
  const Value real = real_of(code_, given);
  Value near = real;
  if (largest_) {
    near = arith::MinNumFOp::create(code_.builder, near, largest_);
    near = arith::MaxNumFOp::create(code_.builder, near, arith::NegFOp::create(code_.builder, largest_));
  }
  const Value high = arith::AndIOp::create(code_.builder, code_.add(word_of(code_, near), half_), code_.number(kept));
  return {high, word_of(code_, arith::SubFOp::create(code_.builder, real, real_of(code_, high)))};
}

SplitSums no_sums(const Code& code) {
  const Value zero = code.real(0);
  return {{zero, zero, zero, zero}, {zero, zero, zero, zero}};
}

void add_corrections(const Code& code, const std::array<SplitReal, 4>& a, const std::array<SplitReal, 2>& b, Sums& sums) {
  if (a[0].low) sums = multiplied(code, {a[0].low, a[1].low, a[2].low, a[3].low}, {b[0].high, b[1].high}, sums);
  if (b[0].low) sums = multiplied(code, {a[0].high, a[1].high, a[2].high, a[3].high}, {b[0].low, b[1].low}, sums);
}
void add_high_product(const Code& code, const std::array<SplitReal, 4>& a, const std::array<SplitReal, 2>& b, Sums& sums) {
  sums = multiplied(code, {a[0].high, a[1].high, a[2].high, a[3].high}, {b[0].high, b[1].high}, sums);
}
void add_product(const Code& code, const std::array<SplitReal, 4>& a, const std::array<SplitReal, 2>& b, SplitSums& sums) {
  add_corrections(code, a, b, sums.corrections);
  add_high_product(code, a, b, sums.products);
}

Sums joined(const Code& code, const SplitSums& sums) {
  Sums all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = code.add(sums.products[i], sums.corrections[i]);
  return all;
}

}  // namespace attune::tensor_cores
