#include "schedules/chunked_scan/chunked_scan.h"

#include <algorithm>
#include <numeric>

#include "schedules/chunked_scan/chunk_scan.h"
#include "schedules/common/token_scan.h"
#include "schedules/records/tuned.h"

using Halide::Func;
using Halide::RVar;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {
namespace {

constexpr int most_unrolled = 16;  ///< lines of a row that are prefetched without a loop
/// Tokens of a chunk whose decays are by channel: a vector of them, each with a sum of its own in registers. Of vectors of 8 that takes longer than
/// token by token.
constexpr int channel_decay_chunk = 16;

/// What both ways have in common: tasks run in parallel, and a vector's columns are stored together.
void schedule_states(StateScan& scan, int lanes) {
  Func driver = scan.driver();
  driver.compute_root();
  if (!scan.body.query) driver.bound(scan.c, 0, scan.used_columns).vectorize(scan.c, lanes);
  driver.update().allow_race_conditions().vectorize(scan.column_loop(), lanes).parallel(scan.task_loop());
  scan.state.compute_root().bound(scan.c, 0, scan.used_columns).vectorize(scan.c, lanes).parallel(scan.n);
  if (!scan.last.defined()) return;
  scan.last.compute_root();
  scan.last.update().allow_race_conditions().vectorize(scan.last_column_loop(), lanes).parallel(scan.last_task_loop());
}

/// Vectors along an extent that is no multiple of them.
void in_vectors(Func func, const Var& var, int lanes) { func.vectorize(var, lanes, TailStrategy::GuardWithIf); }

void schedule_tokens(TokenScan& scan, int lanes, int column_block) {
  const auto once_a_token = [&](Func& func) { func.compute_at(scan.driver(), scan.chunk_loop()).hoist_storage(scan.driver(), scan.task_loop()); };
  // Blocks of columns, each through all channels, whose vectors are sums in registers.
  const auto by_blocks = [&](Stage stage, const std::vector<RVar>& channels) {
    const Var block, inside;
    stage.split(scan.c, block, inside, column_block);
    std::vector<VarOrRVar> order{inside};
    order.insert(order.end(), channels.begin(), channels.end());
    order.emplace_back(block);
    stage.reorder(order).vectorize(inside);
  };
  // A decay by column and channel is read once, where nothing is held: it is made there.
  const bool is_decay_inline = scan.body.has_column_decay && scan.body.has_channel_decay && !scan.held.defined();
  Func* const decay_of_columns = scan.body.has_column_decay && !is_decay_inline ? &scan.decay : nullptr;
  for (Func* func : {&scan.held, &scan.taken, &scan.written, &scan.carried, &scan.read, decay_of_columns}) {
    if (func == nullptr || !func->defined()) continue;
    once_a_token(*func);
    func->bound(scan.c, 0, scan.used_columns);
    by_blocks(*func, {});
    if (func->has_update_definition()) by_blocks(func->update(), func->rvars());
  }
  for (Func* func : {&scan.key, &scan.asked, &scan.erased, &scan.query}) {
    if (!func->defined()) continue;
    once_a_token(*func);
    in_vectors(*func, scan.d, lanes);
  }
  if (!scan.decay.defined() || scan.body.has_column_decay) return;
  once_a_token(scan.decay);
  if (scan.body.has_channel_decay) in_vectors(scan.decay, scan.d, lanes);
}

/// Products of a chunk, a block of rows and vectors in registers at a time.
class ChunkSchedule {
 public:
  ChunkSchedule(ChunkScan& scan, int lanes, int register_vectors)
      : scan_(scan), lanes_(lanes), size_(lanes * register_vectors), token_size_(std::min(size_, scan.tile.tokens())),
        token_blocks_(scan.has_channel_decay() ? scan.tile.row_blocks : std::gcd(size_ / token_size_, scan.tile.row_blocks)) {}

  void apply() {
    schedule_operands();
    if (scan_.body.beta) schedule_inverse();
    schedule_columns();
    schedule_carried();
  }

 private:
  void once_a_chunk(Func func) const { func.compute_at(scan_.driver(), scan_.chunk_loop()).hoist_storage(scan_.driver(), scan_.task_loop()); }
  void bound_rows(Func func) const { func.bound(scan_.r, 0, scan_.tile.rows).bound(scan_.b, 0, scan_.tile.row_blocks); }

  /// Elements along `column`, in vectors, and the rows as straight code; around them the loops of an update.
  void in_registers(Stage stage, const Var& column, const std::vector<Var>& rows, const std::vector<RVar>& around = {}) const {
    const Var vector, lane;
    stage.split(column, vector, lane, lanes_);
    std::vector<VarOrRVar> order{lane, vector};
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), around.begin(), around.end());
    stage.reorder(order).vectorize(lane).unroll(vector);
    for (const Var& row : rows) stage.unroll(row);
  }

  /// `func`, of rows and columns, in blocks whose sums `sum` has in registers; gives the loop over the blocks of a row.
  Var in_blocks(Func func, Func sum, const Var& column, int size) const {
    const Var block, inside, vector, lane;
    func.split(column, block, inside, size, TailStrategy::RoundUp).split(inside, vector, lane, lanes_);
    func.reorder(lane, vector, scan_.r, block, scan_.b).vectorize(lane).unroll(vector).unroll(scan_.r);
    sum.compute_at(func, block).bound_extent(column, size).bound_extent(scan_.r, scan_.tile.rows);
    in_registers(sum, column, {scan_.r});
    for (int n = 0; n < sum.num_update_definitions(); ++n) in_registers(sum.update(n), column, {scan_.r}, sum.rvars(n));
    return block;
  }

  /// `func`, of rows and the tokens of a chunk: these are few vectors, so that several blocks of rows are in registers at once.
  void by_tokens(Func func, Func sum) const {
    const Var block, inside, vector, lane, blocks;
    func.bound_extent(scan_.b, scan_.tile.row_blocks)
        .split(scan_.j, block, inside, token_size_, TailStrategy::RoundUp)
        .split(inside, vector, lane, lanes_);
    func.split(scan_.b, blocks, scan_.b, token_blocks_).reorder(lane, vector, scan_.r, scan_.b, block, blocks);
    func.vectorize(lane).unroll(vector).unroll(scan_.r).unroll(scan_.b);
    sum.compute_at(func, block).bound_extent(scan_.j, token_size_).bound_extent(scan_.r, scan_.tile.rows).bound_extent(scan_.b, token_blocks_);
    in_registers(sum, scan_.j, {scan_.r, scan_.b});
    in_registers(sum.update(), scan_.j, {scan_.r, scan_.b}, sum.rvars());
  }

  void schedule_operands() {
    for (Func* func : {&scan_.key, &scan_.key_by_token, &scan_.query, &scan_.decay, &scan_.fade, &scan_.fading_key, &scan_.beta, &scan_.done,
                       &scan_.decay_by_token, &scan_.past_decay, &scan_.later_decay, &scan_.past_key, &scan_.past_query})
      if (func->defined()) once_a_chunk(*func);
    for (Func* func : {&scan_.key, &scan_.key_by_token, &scan_.decay, &scan_.fade, &scan_.fading_key, &scan_.beta})
      if (func->defined()) func->bound(scan_.j, 0, scan_.tile.tokens());
    for (Func* func : {&scan_.key, &scan_.query, &scan_.fading_key})
      if (func->defined()) in_vectors(*func, scan_.d, lanes_);
    scan_.key.bound(scan_.d, 0, scan_.padded_width);
    schedule_turned(scan_.key_by_token, scan_.turned_keys);
    if (scan_.query.defined()) bound_rows(scan_.query);
    if (scan_.has_channel_decay()) schedule_channel_decays();
    if (!scan_.fade.defined()) return;
    in_vectors(scan_.decay, scan_.j, lanes_);
    scan_.fade.vectorize(scan_.j, lanes_);
    scan_.fade.update().reorder(scan_.j, scan_.fade.rvars()[0]).vectorize(scan_.j, lanes_);
  }

  void schedule_turned(Func func, const TurnedSquares& squares) const {
    const int edge = scan_.turned_edge;
    const Var tokens, token, square, in_square;
    func.bound(scan_.d, 0, scan_.padded_width).split(scan_.j, tokens, token, edge).split(scan_.d, square, in_square, edge);
    func.reorder(token, in_square, square, tokens).vectorize(token).unroll(in_square);
    squares.schedule(func, square);
  }

  void schedule_channel_decays() const {
    schedule_turned(scan_.decay_by_token, scan_.turned_decays);
    scan_.decay_by_token.bound(scan_.j, 0, scan_.tile.tokens());
    for (Func func : {scan_.decay, scan_.past_decay, scan_.later_decay, scan_.past_key}) func.bound(scan_.j, 0, scan_.tile.tokens());
    scan_.decay.bound(scan_.d, 0, scan_.padded_width);
    if (scan_.past_query.defined()) bound_rows(scan_.past_query);
    for (Func* func : {&scan_.decay, &scan_.past_decay, &scan_.later_decay, &scan_.past_key, &scan_.past_query}) {
      if (!func->defined()) continue;
      in_vectors(*func, scan_.d, lanes_);
      if (func->has_update_definition()) func->update().reorder(scan_.d, func->rvars()[0]).vectorize(scan_.d, lanes_, TailStrategy::GuardWithIf);
    }
    if (scan_.faded_overlap.defined()) schedule_faded(scan_.faded_overlap, scan_.overlap);
    if (scan_.faded_product.defined()) schedule_faded(scan_.faded_product, scan_.products);
  }

  /// In the registers of a step of the sum that reads them.
  void schedule_faded(Func faded, const Func& sum) const {
    const Var i = faded.args()[1];
    faded.compute_at(sum, sum.rvars()[0]).bound(scan_.j, 0, scan_.tile.tokens()).bound(i, 0, scan_.tile.tokens()).vectorize(scan_.j).unroll(i);
    faded.update().vectorize(scan_.j).unroll(faded.rvars()[0]);
  }

  void schedule_inverse() {
    once_a_chunk(scan_.erase);
    once_a_chunk(scan_.inverse);
    bound_rows(scan_.erase);
    scan_.erase.bound(scan_.j, 0, scan_.tile.tokens());
    by_tokens(scan_.erase, scan_.overlap);
    scan_.inverse.bound(scan_.j, 0, scan_.tile.tokens()).vectorize(scan_.j, lanes_);
    const Var vector, lane;
    const RVar earlier(scan_.erased.x.name()), later(scan_.erased.y.name());
    Stage update = scan_.inverse.update();
    update.split(scan_.j, vector, lane, lanes_).reorder(lane, vector, earlier, later).vectorize(lane);
    if (scan_.is_inverse_straight()) update.unroll(vector).unroll(earlier).unroll(later);
  }

  void schedule_columns() {
    for (Func* func : {&scan_.rest, &scan_.written, &scan_.read}) {
      if (!func->defined()) continue;
      once_a_chunk(*func);
      bound_rows(*func);
      func->bound(scan_.c, 0, scan_.used_columns);
    }
    if (scan_.body.beta) {
      in_blocks(scan_.rest, scan_.held, scan_.c, size_);
      in_blocks(scan_.written, scan_.solved, scan_.c, size_);
      scan_.solved.update(1).unroll(scan_.solved.rvars(1)[0]);
    } else {
      scan_.written.vectorize(scan_.c, lanes_);
    }
    if (!scan_.body.query) return;
    in_blocks(scan_.read, scan_.sums, scan_.c, size_);
    const int own = scan_.sums.num_update_definitions() - 1;
    scan_.sums.update(own).unroll(scan_.sums.rvars(own)[0]);
    scan_.scores.compute_at(scan_.read, scan_.g).bound_storage(scan_.j, scan_.tile.tokens()).bound_extent(scan_.r, scan_.tile.rows);
    by_tokens(scan_.scores, scan_.products);
  }

  void schedule_carried() {
    once_a_chunk(scan_.carried);
    scan_.carried.bound(scan_.c, 0, scan_.used_columns).vectorize(scan_.c, lanes_);
    const Var block, inside, vector, lane;
    const RVar rows("state_rows-"), row("state_row-");
    scan_.carried.update()
        .split(RVar(scan_.carried_over.x.name()), rows, row, scan_.tile.rows, TailStrategy::GuardWithIf)
        .split(scan_.c, block, inside, size_, TailStrategy::RoundUp)
        .split(inside, vector, lane, lanes_)
        .reorder(lane, vector, row, rows, block)
        .vectorize(lane)
        .unroll(vector)
        .unroll(row);
    scan_.gain.compute_at(scan_.carried, rows).bound_extent(scan_.c, size_).bound_extent(scan_.d, scan_.tile.rows);
    in_registers(scan_.gain, scan_.c, {scan_.d});
    in_registers(scan_.gain.update(), scan_.c, {scan_.d}, scan_.gain.rvars());
    if (!scan_.ahead.defined()) return;
    scan_.ahead.compute_at(scan_.carried, rows);
    for (std::size_t n = 0; n < scan_.ahead_rows.size(); ++n) {
      const RVar lines = scan_.ahead_rows[n].x;
      if (fixed_value(lines.extent()).value_or(most_unrolled + 1) <= most_unrolled) scan_.ahead.update(static_cast<int>(n)).unroll(lines);
    }
  }

  ChunkScan& scan_;
  const int lanes_, size_, token_size_, token_blocks_;  ///< elements of a row and of its part along tokens; blocks of rows of the latter
};

}  // namespace

std::vector<Parameter> chunked_scan_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("chunked_scan", machine, size,
                       {{"chunk", {1, 16, 32, 64, 128}},
                        {"vectors", {1, 2, 4, 8}},
                        {"register_rows", {2, 4, 8}},
                        {"register_vectors", {1, 2, 4}},
                        {"prefetch", {0, 1, 2}}});
}

std::string chunked_scan_problem(const Machine&, const std::vector<Parameter>& values) {
  return multiple_problem("chunked_scan", values, "vectors", "register_vectors");
}

Stored chunked_scan(const RecurrenceBody& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(values, name)); };
  const int lanes = machine.vector_bytes / 4, columns = lanes * value("vectors"), chunk = value("chunk");
  const bool has_channel_decay = body.log_decay && body.has_channel_decay;
  if (chunk == 1 || body.has_column_decay || body.asked || (has_channel_decay && lanes != channel_decay_chunk)) {
    const int block = lanes * value("register_vectors");
    TokenScan scan(body, extents, {.columns = columns, .column_block = block < columns ? block : 0});
    schedule_states(scan, lanes);
    schedule_tokens(scan, lanes, block);
    return scan.stored();
  }
  const int rows = value("register_rows"), row_blocks = (has_channel_decay ? channel_decay_chunk : chunk) / rows;
  ChunkScan scan(body, extents, {columns, rows, row_blocks, false, lanes * value("register_vectors")}, lanes, static_cast<PrefetchInto>(value("prefetch")));
  schedule_states(scan, lanes);
  ChunkSchedule(scan, lanes, value("register_vectors")).apply();
  return scan.stored();
}

}  // namespace attune
