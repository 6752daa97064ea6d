#include "codegen/tensor_cores/warp_products.h"

namespace attune::tensor_cores {

using mlir::Value;

std::array<Value, 4> WarpProducts::load_query(const SharedTile& queries, std::size_t m, int column) const {
  return queries.first_operand(warp_row_, static_cast<int>(m) * fragment, code_.number(0), column, lane_);
}
std::array<Value, 4> WarpProducts::query_operand(const SharedTile& queries, std::size_t m, int column) const {
  return tiles_.keeps_queries ? query_fragments_[m][static_cast<std::size_t>(column / query_columns())] : load_query(queries, m, column);
}
void WarpProducts::keep_queries(const SharedTile& queries) {
  query_fragments_.assign(static_cast<std::size_t>(m_), {});
  for (std::size_t m = 0; m < query_fragments_.size(); ++m)
    for (int column = 0; column < depth_; column += query_columns()) query_fragments_[m].push_back(load_query(queries, m, column));
}

Scores WarpProducts::products(const SharedTile& queries, const SharedTile& keys) const {
  if (is_split()) return split_products(queries, keys);
  const Value zero = code_.real(0);
  Scores sums(static_cast<std::size_t>(m_), std::vector<Sums>(static_cast<std::size_t>(key_columns()), Sums{zero, zero, zero, zero}));
  for (int column = 0; column < depth_; column += fragment) {
    std::vector<std::array<Value, 4>> first;
    for (std::size_t m = 0; m < sums.size(); ++m) first.push_back(query_operand(queries, m, column));
    for (int key = 0; key < tiles_.key_tile; key += fragment) {
      const auto operands = keys.second_operands_by_columns(code_.number(0), key, code_.number(0), column, lane_);
      for (std::size_t m = 0; m < sums.size(); ++m)
        for (std::size_t half = 0; half < 2; ++half) {
          Sums& sum = sums[m][static_cast<std::size_t>(key / column_block) + half];
          sum = multiplied(code_, stage_.element, first[m], {operands[2 * half], operands[2 * half + 1]}, sum);
        }
    }
  }
  return sums;
}

void WarpProducts::add_values(const Scores& weights, const SharedTile& values, Values& state) const {
  if (is_split()) return add_split_values(weights, values, state);
  for (int key = 0; key < tiles_.key_tile; key += fragment) {
    std::vector<std::array<Value, 4>> first;
    for (const auto& row : weights) first.push_back(first_operand(row, key));
    for (int column = 0; column < value_columns_; column += fragment) {
      const auto operands = values.second_operands(code_.number(0), key, code_.number(0), column, lane_);
      for (int m = 0; m < m_; ++m)
        for (std::size_t half = 0; half < 2; ++half) {
          const std::size_t at = sum_at(m, static_cast<std::size_t>(column / column_block) + half, 0);
          const Sums before{state[at], state[at + 1], state[at + 2], state[at + 3]};
          const Sums sums =
              multiplied(code_, stage_.element, first[static_cast<std::size_t>(m)], {operands[2 * half], operands[2 * half + 1]}, before);
          std::copy(sums.begin(), sums.end(), state.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
  }
}

}  // namespace attune::tensor_cores
