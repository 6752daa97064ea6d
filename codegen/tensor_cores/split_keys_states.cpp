#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

#include <limits>

#include "codegen/tensor_cores/split_keys_attention.h"

namespace attune::tensor_cores {

using mlir::Value;

Values SplitKeysAttention::start() const {
  Values state(static_cast<std::size_t>(2 * m_), code_.real(-std::numeric_limits<double>::infinity()));
  state.resize(state_size(), code_.real(0));
  return state;
}

std::vector<std::size_t> SplitKeysAttention::places_of(int m, int half) const {
  std::vector<std::size_t> places{greatest_at(m, half), total_at(m, half)};
  for (std::size_t block = 0; block < static_cast<std::size_t>(value_columns_ / column_block); ++block)
    for (std::size_t i = 0; i < 2; ++i) places.push_back(sum_at(m, block, static_cast<std::size_t>(2 * half) + i));
  return places;
}

Values SplitKeysAttention::joined(const Values& a, const Values& b) const {
  Values state = a;
  for (int m = 0; m < m_; ++m)
    for (int half = 0; half < 2; ++half) {
      const std::vector<std::size_t> places = places_of(m, half);
      const std::size_t greatest = places.front();
      state[greatest] = code_.greatest(a[greatest], b[greatest]);
      const auto shrinks = [&](Value before) {
        const Value below = mlir::arith::SubFOp::create(builder_, before, reference(state[greatest]));
        return code_.power_of_2(code_.multiply(below, code_.real(base())));
      };
      const Value of_a = shrinks(a[greatest]), of_b = shrinks(b[greatest]);
      for (std::size_t i = 1; i < places.size(); ++i)
        state[places[i]] = code_.fused(a[places[i]], of_a, code_.multiply(b[places[i]], of_b));
    }
  return state;
}

// Of twice as many warps as `half` the second half hands its states to the first. A lane's numbers lie apart by those of all lanes.
void SplitKeysAttention::merge_warps(Values& state) const {
  for (int half = split_tiles_.key_warps / 2; half > 0; half /= 2) {
    code_.barrier();
    const Value part = code_.divide(warp_, half), slot = code_.remainder(warp_, half);
    code_.when(builder_.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, part, code_.number(1)), [&] {
      for (std::size_t at = 0; at < state.size(); ++at) mlir::LLVM::StoreOp::create(builder_, state[at], shared_state(slot, at));
    });
    code_.barrier();
    Values other;
    for (std::size_t at = 0; at < state.size(); ++at)
      other.push_back(mlir::LLVM::LoadOp::create(builder_, builder_.getF32Type(), shared_state(slot, at)));
    state = joined(state, other);
  }
}

Value SplitKeysAttention::place_of_state(Value states, Value number, std::size_t at) const {
  constexpr int lane_bytes = 4, number_bytes = 32 * lane_bytes;
  const Value place = code_.add(code_.multiply(number, static_cast<std::int64_t>(state_size()) * number_bytes), code_.multiply(lane_, lane_bytes));
  return code_.behind(code_.behind(states, place), static_cast<std::int64_t>(at) * number_bytes);
}

Value SplitKeysAttention::shared_state(Value slot, std::size_t at) const { return place_of_state(shared_, slot, at); }

Value SplitKeysAttention::stored_state(Value split, std::size_t at) const {
  return place_of_state(states_, code_.add(first_state_, code_.multiply(split, row_blocks_)), at);
}

void SplitKeysAttention::store_state(const Values& state) const {
  for (int m = 0; m < m_; ++m)
    for (int half = 0; half < 2; ++half)
      code_.when(code_.less(row_of(m, half), rows_), [&] {
        for (const std::size_t at : places_of(m, half)) mlir::LLVM::StoreOp::create(builder_, state[at], stored_state(split_, at));
      });
}

Values SplitKeysAttention::load_state(Value split) const {
  Values state = start();
  for (int m = 0; m < m_; ++m)
    for (int half = 0; half < 2; ++half) {
      const std::vector<std::size_t> places = places_of(m, half);
      const auto of_places = [&](const auto& value) {
        Values all;
        for (const std::size_t at : places) all.push_back(value(at));
        return all;
      };
      const auto stored = [&](std::size_t at) -> Value { return mlir::LLVM::LoadOp::create(builder_, builder_.getF32Type(), stored_state(split, at)); };
      const Values loaded = code_.either(
          code_.less(row_of(m, half), rows_), [&] { return of_places(stored); }, [&] { return of_places([&](std::size_t at) { return state[at]; }); });
      for (std::size_t i = 0; i < places.size(); ++i) state[places[i]] = loaded[i];
    }
  return state;
}

}  // namespace attune::tensor_cores
