#include <mlir/Dialect/Arith/IR/Arith.h>

#include "codegen/tensor_cores/split_product.h"
#include "codegen/tensor_cores/warp_attention.h"

namespace attune::tensor_cores {

using mlir::Value;

Scores WarpProducts::split_products(const SharedTile& queries, const SharedTile& keys) const {
  // The parts of queries stay in registers where they are few; elsewhere they are made of the queries again for each block.
  constexpr int most_columns = 64;
  const bool keeps_parts = m_ * depth_ <= most_columns;
  const Splitter split_key(code_, is_careful_), split_query(code_, is_careful_, !keeps_parts);
  std::vector<std::vector<SplitSums>> sums(static_cast<std::size_t>(m_),
                                           std::vector<SplitSums>(static_cast<std::size_t>(key_columns()), no_sums(code_)));
  for (int column = 0; column < depth_; column += query_columns()) {
    std::vector<std::array<SplitReal, 4>> first(static_cast<std::size_t>(m_));
    for (std::size_t m = 0; m < first.size(); ++m) {
      const auto operand = query_operand(queries, m, column);
      for (std::size_t i = 0; i < 4; ++i) first[m][i] = split_query(operand[i]);
    }
    for (int key = 0; key < tiles_.key_tile; key += fragment) {
      const auto operands = keys.second_operands_by_columns(code_.number(0), key, code_.number(0), column, lane_);
      for (std::size_t half = 0; half < 2; ++half) {
        const std::array second{split_key(operands[2 * half]), split_key(operands[2 * half + 1])};
        for (std::size_t m = 0; m < first.size(); ++m)
          add_product(code_, first[m], second, sums[m][static_cast<std::size_t>(key / column_block) + half]);
      }
    }
  }
  Scores scores(sums.size());
  for (std::size_t m = 0; m < sums.size(); ++m)
    for (const SplitSums& block : sums[m]) scores[m].push_back(joined(code_, block));
  return scores;
}

// A thread has weights of keys 2 (lane % 4) and the next of every 8. The sum over keys has any order: these are columns lane % 4 and lane % 4 + 4 of
// the first operand, and the same rows of the second.
void WarpProducts::add_split_values(const Scores& weights, const SharedTile& values, Values& state) const {
  const Splitter split(code_, is_careful_);
  const Value first_key = code_.multiply(code_.remainder(lane_, 4), 2);
  std::vector<std::vector<std::array<SplitReal, 4>>> first(weights.size());
  for (std::size_t m = 0; m < weights.size(); ++m)
    for (const Sums& sums : weights[m]) first[m].push_back({split(sums[0]), split(sums[2]), split(sums[1]), split(sums[3])});
  const int width = value_width();
  for (int block = 0; block < value_columns_ / column_block; block += width) {
    code_.loads_end();
    std::vector<std::vector<SplitSums>> sums(weights.size(), std::vector<SplitSums>(static_cast<std::size_t>(width), no_sums(code_)));
    for (int key = 0; key < tiles_.key_tile; key += column_block) {
      const auto row = [&](int next) {
        return values.words(code_.add(first_key, next), key, code_.multiply(code_.divide(lane_, 4), width), block * column_block, width);
      };
      const std::vector<Value> even = row(0), odd = row(1);
      for (std::size_t i = 0; i < even.size(); ++i) {
        const std::array second{split(even[i]), split(odd[i])};
        for (std::size_t m = 0; m < weights.size(); ++m)
          add_product(code_, first[m][static_cast<std::size_t>(key / column_block)], second, sums[m][i]);
      }
    }
    for (std::size_t m = 0; m < weights.size(); ++m)
      for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) {
        const Sums own = joined(code_, sums[m][i]);
        for (std::size_t element = 0; element < 4; ++element) {
          Value& sum = state[sum_at(static_cast<int>(m), static_cast<std::size_t>(block) + i, element)];
          sum = code_.add(sum, own[element]);
        }
      }
  }
}

// Without care all products of an infinity, and some of what is nearly one, are NaN, and so is the total of a row, or the sum, that they come to.
Values WarpAttention::walk_again_with_care(const Values& state) {
  const Value is_odd = code_.in_any_warp(is_any_nan(state), shared_, warp_, lane_, tiles_.warps());
  const auto with_care = [&] {
    is_careful_ = true;
    const auto saved = std::tuple(thread_, lane_, warp_, rows_, keys_, blocks_, batch_, first_row_, warp_row_, first_query_);
    find_place();
    query_ranges_.clear();
    load_queries();
    Values walked = walk_all();
    std::tie(thread_, lane_, warp_, rows_, keys_, blocks_, batch_, first_row_, warp_row_, first_query_) = saved;
    return walked;
  };
  return code_.either(is_odd, with_care, [&] { return state; });
}

void WarpAttention::keep_nan(const Scores& scores, Values& state) const {
  for (std::size_t m = 0; m < scores.size(); ++m)
    for (const Sums& sums : scores[m])
      for (std::size_t i = 0; i < sums.size(); ++i) {
        Value& total = state[total_at(static_cast<int>(m), static_cast<int>(i / 2))];
        total = code_.fused(sums[i], code_.real(0), total);
      }
}

Value WarpAttention::is_any_nan(const Values& state) const {
  // Of totals and sums; 0 times an infinite one is NaN, too.
  Value all = code_.real(0);
  for (std::size_t at = total_at(0, 0); at < state.size(); ++at) all = code_.fused(state[at], code_.real(0), all);
  return builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNO, all, all);
}

}  // namespace attune::tensor_cores
