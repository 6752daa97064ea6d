#include "codegen/tensor_cores/warpgroup_attention.h"

#include <mlir/Dialect/SCF/IR/SCF.h>

#include <limits>

#include "codegen/tensor_cores/attention_builder.h"
#include "codegen/tensor_cores/warpgroup.h"

namespace attune::tensor_cores {
namespace {

using mlir::Value;

int panels_of(int columns) { return (columns + Panels::columns - 1) / Panels::columns; }

/// With blocks of keys counted as they are visited: at the top of the loop's round i the weights of block i are there, its values and the keys of
/// block i + 1 are on their way, and so are those of the blocks behind them, up to the keys of block i + stages - 1.
class WarpgroupAttention : public AttentionBuilder {
 public:
  WarpgroupAttention(const KernelFunction& function, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                     const WarpgroupAttentionTiles& tiles)
      : AttentionBuilder(function, plan, step, stage, tiles, /*is_aligned=*/true), stages_(tiles.stages), has_query_registers_(tiles.has_query_registers), has_turns_(tiles.has_turns) {}

  void run() {
    find_place();
    warpgroup_ = code_.of_first_lane(code_.divide(warp_, warps));
    const NextBlock first = next_block(code_.number(0));
    const Values none = start();
    store(either(code_.less(first.number, blocks_), [&] { return walk(first, none); }, [&] { return none; }));
  }

 private:
  // --- shared memory: queries, then keys, then values of all stages ---

  static int bytes(int rows, int columns) { return panels_of(columns) * rows * Panels::row_bytes; }
  int query_bytes() const { return bytes(tiles_.query_tile, depth_); }
  int key_bytes() const { return bytes(tiles_.key_tile, depth_); }
  int value_bytes() const { return bytes(tiles_.key_tile, value_columns_); }
  Value key_place(Value slot) const { return code_.behind(shared_, code_.add(code_.multiply(slot, key_bytes()), query_bytes())); }
  Value value_place(Value slot) const {
    return code_.behind(shared_, code_.add(code_.multiply(slot, value_bytes()), query_bytes() + stages_ * key_bytes()));
  }

  void load_panels(Value place, int rows, const Operand& operand, const std::string& along, Value first, Value extent, std::int64_t columns) const {
    const int filled_columns = filled(columns);
    for (int panel = 0; panel < panels_of(filled_columns); ++panel) {
      const int before = panel * Panels::columns, own = std::min(Panels::columns, filled_columns - before);
      const SharedTile tile(code_, code_.behind(place, panel * rows * Panels::row_bytes), rows, own, Panels::columns);
      load(tile, operand, along, first, extent, columns, before);
    }
  }
  void copy_keys(const NextBlock& block, Value slot) const {
    code_.when(code_.less(block.number, blocks_), [&] {
      load_panels(key_place(slot), tiles_.key_tile, stage_.key, stage_.keys, code_.multiply(block.number, tiles_.key_tile), keys_, stage_.depth);
    });
  }
  void copy_values(const NextBlock& block, Value slot) const {
    code_.when(code_.less(block.number, blocks_), [&] {
      load_panels(value_place(slot), tiles_.key_tile, stage_.value, stage_.keys, code_.multiply(block.number, tiles_.key_tile), keys_,
                  stage_.value_columns);
    });
  }
  /// What threads copied is there for products, but for the last `pending` ends; and products of the round before are done.
  void arrive(int pending) const {
    code_.wait_for_copies(pending);
    show_to_products(code_);
    code_.barrier();
  }
  Value behind_slot(Value slot, int by) const {
    const Value sum = code_.add(slot, by % stages_);
    return code_.select(code_.less(sum, code_.number(stages_)), sum, code_.add(sum, -stages_));
  }

  // --- products ---

  /// The warpgroup's queries as first operands, for all of the walk.
  void load_query_words() {
    for (int column = 0; column < depth_; column += fragment) {
      const Value place = code_.behind(shared_, column / Panels::columns * tiles_.query_tile * Panels::row_bytes);
      const SharedTile panel(code_, place, tiles_.query_tile, Panels::columns, Panels::columns);
      query_words_.push_back(panel.first_operand(code_.multiply(warp_, fragment), 0, code_.number(0), column % Panels::columns, lane_));
    }
  }

  /// Begins those of the warpgroup's queries and the keys in a slot.
  WarpgroupSums begin_scores(Value slot) const {
    const Value own = code_.multiply(warpgroup_, warps * fragment * Panels::row_bytes);
    const Panels queries(code_, code_.behind(shared_, own), tiles_.query_tile), keys(code_, key_place(slot), tiles_.key_tile);
    begin_products(code_, {});
    WarpgroupSums sums;
    for (int column = 0; column < depth_; column += fragment) {
      const auto own_queries = query_words_.empty() ? FirstOperand(queries.by_own_rows(0, column)) : query_words_[static_cast<std::size_t>(column / fragment)];
      sums = multiplied(code_, stage_.element, own_queries, keys.by_own_rows(0, column), tiles_.key_tile, sums);
    }
    end_products(code_);
    return sums;
  }
  /// Begins the sums of weights times the values in a slot. Both are to be waited for.
  void begin_values(Value slot, Values& weights, Values& state) const {
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
  /// Behind the wait the sums are there, and the registers of weights are free.
  void end_values(const Values& weights, Values& state) const {
    Values registers(state.begin() + sums_at(), state.end());
    registers.append(weights);
    registers = wait_for_products(code_, 0, registers);
    std::copy(registers.begin(), registers.end() - static_cast<std::ptrdiff_t>(weights.size()), state.begin() + sums_at());
  }
  std::ptrdiff_t sums_at() const { return static_cast<std::ptrdiff_t>(sum_at(0, 0, 0)); }

  // --- the walk ---

  /// What a round hands to the next.
  struct Round {
    Value slot;                      // of the block whose values come next
    std::vector<NextBlock> blocks;   // those ahead, whose keys are on their way; with scores, the block of these before them
    Values weights, shrinks;         // of that block, and by how much they make the sums shrink; or
    Values scores;                   // its products with the queries
    Values state;
  };
  Values packed_round(const Round& round) const {
    Values all{round.slot};
    for (const NextBlock& block : round.blocks) all.append({block.number, block.is_visible});
    for (const Values* values : {&round.weights, &round.shrinks, &round.scores, &round.state}) all.append(*values);
    return all;
  }
  /// Of the same sizes as another.
  static Round unpacked_round(const Values& all, Round like) {
    const auto* next = all.begin();
    like.slot = *next++;
    for (NextBlock& block : like.blocks) block = {next[0], next[1]}, next += 2;
    for (Values* values : {&like.weights, &like.shrinks, &like.scores, &like.state})
      for (Value& value : *values) value = *next++;
    return like;
  }
  /// Rounds while the block at a place of `blocks` is there.
  Round in_rounds(const Round& first, std::size_t place, Round (WarpgroupAttention::*visit)(Round)) {
    const Values end = code_.loop(
        packed_round(first), [&](const Values& at) { return code_.less(unpacked_round(at, first).blocks[place].number, blocks_); },
        [&](const Values& at) { return packed_round((this->*visit)(unpacked_round(at, first))); });
    return unpacked_round(end, first);
  }

  Values start() const {
    Values state(2, code_.real(-std::numeric_limits<double>::infinity()));
    state.resize(state_size(), code_.real(0));
    return state;
  }

  /// Scores of a block become weights in `round`.
  void weigh_block(const WarpgroupSums& sums, const NextBlock& block, Round& round) {
    const Value first_key = code_.multiply(block.number, tiles_.key_tile);
    Scores scores{in_blocks(sums)};
    change(scores, first_key);
    hide(scores, block);
    const std::array<Value, 2> shrinks = weigh(scores[0], 0, first_key, round.state);
    round.shrinks.assign(shrinks.begin(), shrinks.end());
    weights_ = scores[0];
  }
  void shrink_sums(Round& round) {
    const auto shrinks = [&](Value by) { return builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNE, by, code_.real(1)); };
    const Value is_needed = code_.in_any_lane(builder_.createOrFold<mlir::arith::OrIOp>(shrinks(round.shrinks[0]), shrinks(round.shrinks[1])));
    round.state = either(is_needed, [&] {
      Values shrunk = round.state;
      shrink(shrunk, 0, {round.shrinks[0], round.shrinks[1]});
      return shrunk;
    }, [&] { return round.state; });
  }
  void keep_before_wait(const Round& round) const {
    const Value sum = code_.add(round.state[total_at(0, 0)], round.state[total_at(0, 1)]);
    code_.when(builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OLT, sum, code_.real(0)),
               [&] { mlir::LLVM::Trap::create(builder_); });
  }
  void pack_weights(Round& round) const {
    round.weights.clear();
    for (int key = 0; key < tiles_.key_tile; key += fragment) {
      const std::array<Value, 4> own = first_operand(weights_, key);
      round.weights.append(own.begin(), own.end());
    }
  }

  Values walk(const NextBlock& first, const Values& none) {
    Round round{code_.number(0), {}, {}, {}, {}, none};
    load_panels(shared_, tiles_.query_tile, stage_.query, stage_.queries, first_query_, queries_, stage_.depth);
    copy_keys(first, round.slot);
    code_.end_copies();
    NextBlock before = first;
    for (int i = 1; i < stages_; ++i) {
      copy_values(before, code_.number(i - 1));
      before = next_block(code_.add(before.number, 1));
      copy_keys(before, code_.number(i));
      code_.end_copies();
      round.blocks.push_back(before);
    }
    arrive(stages_ - 1);
    if (has_query_registers_) load_query_words();
    const Values scores = wait_for_products(code_, 0, begin_scores(round.slot));
    const auto before_others = [&] { return walk_before(round, first, scores); };
    if (!has_turns_) return before_others();
    return either(code_.less(code_.remainder(warpgroup_, 2), code_.number(1)), before_others, [&] { return walk_behind(round, first, scores); });
  }

  /// Products, and weights while they go on.
  Values walk_before(Round round, const NextBlock& first, const Values& scores) {
    weigh_block(scores, first, round);
    pack_weights(round);
    round = in_rounds(round, 0, &WarpgroupAttention::visit_before);
    return add_last_values(round);
  }
  Round visit_before(Round round) {
    const NextBlock block = round.blocks.front(), found = next_block(code_.add(round.blocks.back().number, 1));
    arrive(stages_ - 2);
    const WarpgroupSums products = begin_scores(behind_slot(round.slot, 1));
    shrink_sums(round);
    begin_values(round.slot, round.weights, round.state);
    copy(round, found);
    const Values weights = round.weights;
    weigh_block(wait_for_products(code_, 1, products), block, round);
    keep_before_wait(round);
    end_values(weights, round.state);
    pack_weights(round);
    step(round, found);
    return round;
  }

  /// Weights, and then products, which go on while other warpgroups make their weights.
  Values walk_behind(Round round, const NextBlock& first, const Values& scores) {
    round.blocks.insert(round.blocks.begin(), first);
    round.scores = scores;
    round = in_rounds(round, 1, &WarpgroupAttention::visit_behind);
    weigh_block(round.scores, round.blocks.front(), round);
    pack_weights(round);
    return add_last_values(round);
  }
  Round visit_behind(Round round) {
    const NextBlock found = next_block(code_.add(round.blocks.back().number, 1));
    arrive(stages_ - 2);
    copy(round, found);
    weigh_block(round.scores, round.blocks.front(), round);
    pack_weights(round);
    const WarpgroupSums products = begin_scores(behind_slot(round.slot, 1));
    shrink_sums(round);
    begin_values(round.slot, round.weights, round.state);
    end_values(round.weights, round.state);
    round.scores = wait_for_products(code_, 0, products);
    round.weights.clear();
    round.shrinks.clear();
    step(round, found);
    return round;
  }

  void copy(const Round& round, const NextBlock& found) const {
    copy_keys(found, round.slot);
    copy_values(round.blocks.back(), behind_slot(round.slot, stages_ - 1));
    code_.end_copies();
  }
  void step(Round& round, const NextBlock& found) const {
    round.slot = behind_slot(round.slot, 1);
    round.blocks.erase(round.blocks.begin());
    round.blocks.push_back(found);
  }
  Values add_last_values(Round& round) {
    arrive(0);
    shrink_sums(round);
    begin_values(round.slot, round.weights, round.state);
    end_values(round.weights, round.state);
    return round.state;
  }

  /// State of one of two ways.
  Values either(Value condition, const std::function<Values()>& one, const std::function<Values()>& other) const {
    const llvm::SmallVector<mlir::Type> types(state_size(), builder_.getF32Type());
    auto branch = mlir::scf::IfOp::create(builder_, types, condition, /*withElseRegion=*/true);
    const mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    mlir::scf::YieldOp::create(builder_, one());
    builder_.setInsertionPointToStart(branch.elseBlock());
    mlir::scf::YieldOp::create(builder_, other());
    return {branch.getResults().begin(), branch.getResults().end()};
  }

  static constexpr int warps = 4;  // of a warpgroup
  const int stages_;
  const bool has_query_registers_, has_turns_;
  std::vector<FirstOperand> query_words_;  // [16 columns]
  Value warpgroup_;
  std::vector<Sums> weights_;
};

}  // namespace

int shared_bytes(const WarpgroupAttentionTiles& tiles, std::int64_t depth, std::int64_t value_columns) {
  const auto row_bytes = [](std::int64_t columns) { return panels_of(static_cast<int>(columns)) * Panels::row_bytes; };
  return tiles.query_tile * row_bytes(depth) + tiles.stages * tiles.key_tile * (row_bytes(depth) + row_bytes(value_columns));
}

void build_warpgroup_attention(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                               const WarpgroupAttentionTiles& tiles) {
  const BlockNeeds needs{tiles.threads(), shared_bytes(tiles, stage.depth, stage.value_columns), /*is_given_by_launch=*/true};
  build_kernel(builder, name, plan, step, needs,
               [&](const KernelFunction& function) { WarpgroupAttention(function, plan, step, stage, tiles).run(); });
}

}  // namespace attune::tensor_cores
