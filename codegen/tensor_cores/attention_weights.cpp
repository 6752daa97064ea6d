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

std::array<Value, 2> AttentionBuilder::weigh(std::vector<Sums>& scores, int m, Value first_key, Values& state) {
  const Value scale = code_.real(base());
  std::array<Value, 2> shrinks, minus;
  for (std::size_t half = 0; half < 2; ++half) {
    Value& greatest = state[greatest_at(m, static_cast<int>(half))];
    // Chains by turns: the latency of one hides behind the others.
    std::array<Value, 4> chains{greatest};
    for (std::size_t i = 0; i < 2 * scores.size(); ++i) {
      Value& chain = chains[i % chains.size()];
      const Value score = scores[i / 2][2 * half + i % 2];
      chain = chain ? code_.greatest(chain, score) : score;
    }
    const auto greater = [&](Value a, Value b) { return code_.greatest(a, b); };
    const Value now = over_quad(greater(greater(chains[0], chains[1]), greater(chains[2], chains[3])), greater);
    minus[half] = code_.multiply(reference(now), code_.real(-base()));
    // 1 where the greatest stays: a difference of rounded products would add up over the blocks.
    shrinks[half] = code_.power_of_2(code_.multiply(mlir::arith::SubFOp::create(builder_, greatest, reference(now)), scale));
    greatest = now;
    Value& total = state[total_at(m, static_cast<int>(half))];
    total = code_.multiply(total, shrinks[half]);
  }
  for (Sums& sums : scores)
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = code_.power_of_2(code_.fused(sums[i], scale, minus[i / 2]));
      Value& total = state[total_at(m, static_cast<int>(i / 2))];
      total = code_.add(total, sums[i]);
    }
  if (stage_.weights == stage_.softmax) return shrinks;
  Scores rows(static_cast<std::size_t>(m_));
  rows[static_cast<std::size_t>(m)] = scores;
  at_each(rows, first_key, [&](Value weight, Value, const Coordinates& at) {
    return graph_.at(stage_.weights, at, {{stage_.softmax, Emitted{&builder_, weight, {}}}}).value;
  });
  scores = rows[static_cast<std::size_t>(m)];
  return shrinks;
}

void AttentionBuilder::shrink(Values& state, int m, const std::array<Value, 2>& by) const {
  for (std::size_t block = 0; block < static_cast<std::size_t>(value_columns_ / column_block); ++block)
    for (std::size_t i = 0; i < 4; ++i) {
      Value& sum = state[sum_at(m, block, i)];
      sum = code_.multiply(sum, by[i / 2]);
    }
}

std::array<Value, 4> AttentionBuilder::first_operand(const std::vector<Sums>& weights, int key) const {
  const Sums &low = weights[static_cast<std::size_t>(key / column_block)], &high = weights[static_cast<std::size_t>(key / column_block + 1)];
  const auto pair = [&](const Sums& sums, std::size_t i) { return packed(code_, stage_.element, sums[i], sums[i + 1]); };
  return {pair(low, 0), pair(low, 2), pair(high, 0), pair(high, 2)};
}

void AttentionBuilder::store(const Values& state) {
  for (int m = 0; m < m_; ++m)
    for (int half = 0; half < 2; ++half) {
      const Value total = over_quad(state[total_at(m, half)], [&](Value a, Value b) { return code_.add(a, b); });
      const Value is_none = builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OEQ, total, code_.real(0));
      const Value inverse = code_.select(is_none, code_.real(0), mlir::arith::DivFOp::create(builder_, code_.real(1), total));
      const Value row = row_of(m, half);
      code_.when(code_.less(row, rows_), [&] {
        const Coordinates at = at_row(row);
        store_row(m, half, at, inverse, state);
        if (stage_.has_log_sum_exp) store_log_sum_exp(at, state[greatest_at(m, half)], total, is_none);
      });
    }
}

void AttentionBuilder::store_row(int m, int half, const Coordinates& row, Value inverse, const Values& state) {
  for (std::size_t block = 0; block < static_cast<std::size_t>(value_columns_ / column_block); ++block) {
    const auto column = [&](std::size_t i) { return column_of(static_cast<int>(block), static_cast<int>(i), value_width()); };
    const auto at = [&](std::size_t i) {
      Coordinates at = row;
      at.insert_or_assign(stage_.value_depth, index(column(i)));
      return at;
    };
    const auto result = [&](std::size_t i) {
      const Emitted sum{&builder_, code_.multiply(state[sum_at(m, block, static_cast<std::size_t>(2 * half) + i)], inverse), {}};
      return graph_.at(stage_.result, at(i), {{stage_.matmul, sum}}).value;
    };
    const auto when_there = [&](std::size_t i, const std::function<void()>& store) {
      if (value_columns_ == stage_.value_columns) return store();
      code_.when(code_.less(column(i), code_.number(stage_.value_columns)), store);
    };
    if (value_width() == 1 && is_aligned_ && stage_.has_result_rows) {
      when_there(0, [&] { arguments_.store(0, at(0), {result(0), result(1)}); });
      continue;
    }
    for (const std::size_t i : {0, 1}) when_there(i, [&] { arguments_.store(0, at(i), result(i)); });
  }
}

void AttentionBuilder::store_log_sum_exp(const Coordinates& row, Value greatest, Value total, Value is_none) {
  const Value is_first = builder_.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, code_.remainder(lane_, 4), code_.number(0));
  code_.when(is_first, [&] {
    const Value logarithm = mlir::math::LogOp::create(builder_, total);
    const Value sum = code_.fused(greatest, code_.real(base() * std::numbers::ln2), logarithm);
    arguments_.store(1, row, code_.select(is_none, code_.real(-std::numeric_limits<double>::infinity()), sum));
  });
}

}  // namespace attune::tensor_cores
