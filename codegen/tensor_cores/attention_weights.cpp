#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>

#include <limits>

#include "codegen/tensor_cores/attention_builder.h"

namespace attune::tensor_cores {

using mlir::Value;

Value AttentionBuilder::reference(Value greatest) const {
  const Value is_none =
      builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OEQ, greatest, code_.real(-std::numeric_limits<double>::infinity()));
  return code_.select(is_none, code_.real(0), greatest);
}

void AttentionBuilder::weigh(std::vector<Sums>& scores, int m, Value first_key, Values& state) {
  for (int half = 0; half < 2; ++half) {
    const std::size_t first = static_cast<std::size_t>(2 * half);
    Value &greatest = state[greatest_at(m, half)], &total = state[total_at(m, half)];
    Value now = scores[0][first];
    for (const Sums& sums : scores)
      for (const std::size_t i : {first, first + 1}) now = code_.greatest(now, sums[i]);
    now = over_quad(now, [&](Value a, Value b) { return code_.greatest(a, b); });
    now = code_.greatest(greatest, now);
    const Value scale = code_.real(base()), minus = code_.multiply(reference(now), code_.real(-base()));
    const Value shrinks = code_.power_of_2(code_.fused(greatest, scale, minus));
    greatest = now;
    total = code_.multiply(total, shrinks);
    for (Sums& sums : scores)
      for (const std::size_t i : {first, first + 1}) {
        sums[i] = code_.power_of_2(code_.fused(sums[i], scale, minus));
        total = code_.add(total, sums[i]);
      }
    for (std::size_t block = 0; block < static_cast<std::size_t>(value_columns_ / column_block); ++block)
      for (const std::size_t i : {first, first + 1}) {
        Value& sum = state[sum_at(m, block, i)];
        sum = code_.multiply(sum, shrinks);
      }
  }
  if (stage_.weights == stage_.softmax) return;
  Scores rows(static_cast<std::size_t>(m_));
  rows[static_cast<std::size_t>(m)] = scores;
  at_each(rows, first_key, [&](Value weight, Value, const Coordinates& at) {
    return graph_.at(stage_.weights, at, {{stage_.softmax, Emitted{&builder_, weight, {}}}}).value;
  });
  scores = rows[static_cast<std::size_t>(m)];
}

void AttentionBuilder::add_values(const Scores& weights, Values& state) {
  for (int key = 0; key < tiles_.key_tile; key += fragment) {
    std::vector<std::array<Value, 4>> first;
    for (const auto& row : weights) {
      const Sums &low = row[static_cast<std::size_t>(key / column_block)], &high = row[static_cast<std::size_t>(key / column_block + 1)];
      const auto pair = [&](const Sums& sums, std::size_t i) { return packed(code_, stage_.element, sums[i], sums[i + 1]); };
      first.push_back({pair(low, 0), pair(low, 2), pair(high, 0), pair(high, 2)});
    }
    for (int column = 0; column < value_columns_; column += fragment) {
      const auto operands = values_tile().second_operands(code_.number(0), key, code_.number(0), column, lane_);
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

void AttentionBuilder::store(const Values& state) {
  for (int m = 0; m < m_; ++m)
    for (int half = 0; half < 2; ++half) {
      const Value total = over_quad(state[total_at(m, half)], [&](Value a, Value b) { return code_.add(a, b); });
      const Value is_none = builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OEQ, total, code_.real(0));
      const Value inverse = code_.select(is_none, code_.real(0), mlir::arith::DivFOp::create(builder_, code_.real(1), total));
      const Value query = query_of(m, half);
      code_.when(code_.less(query, queries_), [&] {
        store_row(m, half, query, inverse, state);
        if (stage_.has_log_sum_exp) store_log_sum_exp(query, state[greatest_at(m, half)], total, is_none);
      });
    }
}

void AttentionBuilder::store_row(int m, int half, Value query, Value inverse, const Values& state) {
  for (std::size_t block = 0; block < static_cast<std::size_t>(value_columns_ / column_block); ++block)
    for (std::size_t i = 0; i < 2; ++i) {
      const Value column = column_of(static_cast<int>(block), static_cast<int>(i));
      const auto store_element = [&] {
        Coordinates at = batch_;
        at.insert_or_assign(stage_.queries, index(query));
        at.insert_or_assign(stage_.value_depth, index(column));
        const Emitted sum{&builder_, code_.multiply(state[sum_at(m, block, static_cast<std::size_t>(2 * half) + i)], inverse), {}};
        arguments_.store(0, at, graph_.at(stage_.result, at, {{stage_.matmul, sum}}).value);
      };
      if (value_columns_ == stage_.value_columns)
        store_element();
      else
        code_.when(code_.less(column, code_.number(stage_.value_columns)), store_element);
    }
}

void AttentionBuilder::store_log_sum_exp(Value query, Value greatest, Value total, Value is_none) {
  const Value is_first = builder_.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, code_.remainder(lane_, 4), code_.number(0));
  code_.when(is_first, [&] {
    Coordinates at = batch_;
    at.insert_or_assign(stage_.queries, index(query));
    const Value logarithm = mlir::math::LogOp::create(builder_, total);
    const Value sum = code_.fused(greatest, code_.real(base() * std::numbers::ln2), logarithm);
    arguments_.store(1, at, code_.select(is_none, code_.real(-std::numeric_limits<double>::infinity()), sum));
  });
}

}  // namespace attune::tensor_cores
