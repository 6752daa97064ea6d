#include "codegen/tensor_cores/warpgroup_attention.h"


#include "codegen/tensor_cores/warpgroup_attention_builder.h"

namespace attune::tensor_cores {

using mlir::Value;

void WarpgroupAttention::run() {
  find_place();
  warpgroup_ = code_.of_first_lane(code_.divide(warp_, warps));
  const NextBlock first = next_block(code_.number(0));
  store(code_.either(
      code_.less(first.number, blocks_), [&] { return walk(first); }, [&] { return start(); }));
}

Value WarpgroupAttention::key_place(Value slot) const {
  const int queries = panel_bytes(tiles_.query_tile, depth_), keys = panel_bytes(tiles_.key_tile, depth_);
  return code_.behind(shared_, code_.add(code_.multiply(slot, keys), queries));
}
Value WarpgroupAttention::value_place(Value slot) const {
  const Value behind_keys = key_place(code_.number(stages_));
  return code_.behind(behind_keys, code_.multiply(slot, panel_bytes(tiles_.key_tile, value_columns_)));
}
Value WarpgroupAttention::behind_slot(Value slot, int by) const {
  const Value sum = code_.add(slot, by % stages_);
  return code_.select(code_.less(sum, code_.number(stages_)), sum, code_.add(sum, -stages_));
}

void WarpgroupAttention::load_panels(Value place, int height, const Operand& operand, const OperandRows& rows, std::int64_t columns) const {
  const int filled_columns = filled(columns);
  for (int panel = 0; panel < panels_of(filled_columns); ++panel) {
    const int before = panel * Panels::columns, own = std::min(Panels::columns, filled_columns - before);
    const SharedTile tile(code_, stage_.element, code_.behind(place, panel * height * Panels::row_bytes), height, own, Panels::columns);
    load(tile, operand, rows, columns, all_threads(), before);
  }
}

void WarpgroupAttention::copy_keys(const NextBlock& block, Value slot) const {
  code_.when(code_.less(block.number, blocks_), [&] {
    load_panels(key_place(slot), tiles_.key_tile, stage_.key, key_rows(stage_.key, block.number), stage_.depth);
  });
}
void WarpgroupAttention::copy_values(const NextBlock& block, Value slot) const {
  code_.when(code_.less(block.number, blocks_), [&] {
    load_panels(value_place(slot), tiles_.key_tile, stage_.value, key_rows(stage_.value, block.number), stage_.value_columns);
  });
}

void WarpgroupAttention::arrive(int pending) const {
  code_.wait_for_copies(pending);
  show_to_products(code_);
  code_.barrier();
}

void WarpgroupAttention::load_query_words() {
  for (int column = 0; column < depth_; column += fragment) {
    const Value place = code_.behind(shared_, column / Panels::columns * tiles_.query_tile * Panels::row_bytes);
    const SharedTile panel(code_, stage_.element, place, tiles_.query_tile, Panels::columns, Panels::columns);
    query_words_.push_back(panel.first_operand(code_.multiply(warp_, fragment), 0, code_.number(0), column % Panels::columns, lane_));
  }
}

WarpgroupSums WarpgroupAttention::begin_scores(Value slot) const {
  const Value own = code_.multiply(warpgroup_, warps * fragment * Panels::row_bytes);
  const Panels queries(code_, code_.behind(shared_, own), tiles_.query_tile), keys(code_, key_place(slot), tiles_.key_tile);
  begin_products(code_, {});
  WarpgroupSums sums;
  for (int column = 0; column < depth_; column += fragment) {
    const auto own_queries =
        query_words_.empty() ? FirstOperand(queries.by_own_rows(0, column)) : query_words_[static_cast<std::size_t>(column / fragment)];
    sums = multiplied(code_, stage_.element, own_queries, keys.by_own_rows(0, column), tiles_.key_tile, sums);
  }
  end_products(code_);
  return sums;
}

void WarpgroupAttention::begin_values(Value slot, Values& weights, Values& state) const {
  const Panels values(code_, value_place(slot), tiles_.key_tile);
  Values registers(state.begin() + sums_at(), state.end());
  registers.append(weights);
  registers = begin_products(code_, registers);
  WarpgroupSums sums(registers.begin(), registers.end() - static_cast<std::ptrdiff_t>(weights.size()));
  weights.assign(registers.end() - static_cast<std::ptrdiff_t>(weights.size()), registers.end());
  for (int key = 0; key < tiles_.key_tile; key += fragment) {
    const auto* own = weights.data() + key / fragment * 4;
    sums = multiplied(code_, stage_.element, std::array<Value, 4>{own[0], own[1], own[2], own[3]}, values.by_contracted_rows(key, 0),
                      value_columns_, sums);
  }
  end_products(code_);
  std::copy(sums.begin(), sums.end(), state.begin() + sums_at());
}

void WarpgroupAttention::end_values(const Values& weights, Values& state) const {
  Values registers(state.begin() + sums_at(), state.end());
  registers.append(weights);
  registers = wait_for_products(code_, 0, registers);
  std::copy(registers.begin(), registers.end() - static_cast<std::ptrdiff_t>(weights.size()), state.begin() + sums_at());
}

int shared_bytes(const WarpgroupAttentionTiles& tiles, std::int64_t depth, std::int64_t value_columns) {
  const auto row_bytes = [](std::int64_t columns) { return panels_of(columns) * Panels::row_bytes; };
  return tiles.query_tile * row_bytes(depth) + tiles.stages * tiles.key_tile * (row_bytes(depth) + row_bytes(value_columns));
}

void build_warpgroup_attention(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step,
                               const AttentionStage& stage, const WarpgroupAttentionTiles& tiles) {
  const BlockNeeds needs{tiles.threads(), shared_bytes(tiles, stage.depth, stage.value_columns), true};
  build_kernel(builder, name, plan, step, needs,
               [&](const KernelFunction& function) { WarpgroupAttention(function, plan, step, stage, tiles).run(); });
}

}  // namespace attune::tensor_cores
