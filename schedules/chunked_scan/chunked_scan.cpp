#include "schedules/chunked_scan/chunked_scan.h"

#include <algorithm>

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

void schedule_tokens(TokenScan& scan, int lanes) {
  const auto once_a_token = [&](Func& func) { func.compute_at(scan.driver(), scan.chunk_loop()).hoist_storage(scan.driver(), scan.task_loop()); };
  for (Func* func : {&scan.held, &scan.written, &scan.carried, &scan.read}) {
    if (!func->defined()) continue;
    once_a_token(*func);
    func->bound(scan.c, 0, scan.tile.columns).vectorize(scan.c);
    if (func->has_update_definition()) func->update().vectorize(scan.c);
  }
  for (Func* func : {&scan.key, &scan.query, &scan.decay})
    if (func->defined()) once_a_token(*func);
  in_vectors(scan.key, scan.d, lanes);
  if (scan.query.defined()) in_vectors(scan.query, scan.d, lanes);
  if (scan.decay.defined() && scan.body.has_channel_decay) in_vectors(scan.decay, scan.d, lanes);
}

/// Products of a chunk, a block of rows and vectors in registers at a time.
class ChunkSchedule {
 public:
  ChunkSchedule(ChunkScan& scan, int lanes, int register_vectors)
      : scan_(scan), lanes_(lanes), size_(lanes * register_vectors), token_size_(std::min(size_, scan.tile.tokens())) {}

  void apply() {
    schedule_operands();
    if (scan_.body.beta) schedule_inverse();
    schedule_columns();
    schedule_carried();
  }

 private:
  void once_a_chunk(Func func) const { func.compute_at(scan_.driver(), scan_.chunk_loop()).hoist_storage(scan_.driver(), scan_.task_loop()); }
  void bound_rows(Func func) const { func.bound(scan_.r, 0, scan_.tile.rows).bound(scan_.b, 0, scan_.tile.row_blocks); }

  /// `size` elements along `column`, in vectors, and a block's rows as straight code; around them the loops of an update.
  void in_registers(Stage stage, const Var& column, const Var& row, const std::vector<RVar>& around = {}) const {
    const Var vector, lane;
    stage.split(column, vector, lane, lanes_);
    std::vector<VarOrRVar> order{lane, vector, row};
    order.insert(order.end(), around.begin(), around.end());
    stage.reorder(order).vectorize(lane).unroll(vector).unroll(row);
  }

  /// `func`, of rows and columns, in blocks whose sums `sum` has in registers; gives the loop over the blocks of a row.
  Var in_blocks(Func func, Func sum, const Var& column, int size) const {
    const Var block, inside, vector, lane;
    func.split(column, block, inside, size, TailStrategy::RoundUp).split(inside, vector, lane, lanes_);
    func.reorder(lane, vector, scan_.r, block, scan_.b).vectorize(lane).unroll(vector).unroll(scan_.r);
    sum.compute_at(func, block).bound_extent(column, size).bound_extent(scan_.r, scan_.tile.rows);
    in_registers(sum, column, scan_.r);
    for (int n = 0; n < sum.num_update_definitions(); ++n) in_registers(sum.update(n), column, scan_.r, sum.rvars(n));
    return block;
  }

  void schedule_operands() {
    for (Func* func : {&scan_.key, &scan_.key_by_token, &scan_.query, &scan_.decay, &scan_.fade, &scan_.fading_key, &scan_.beta, &scan_.done})
      if (func->defined()) once_a_chunk(*func);
    for (Func* func : {&scan_.key, &scan_.key_by_token, &scan_.decay, &scan_.fade, &scan_.fading_key, &scan_.beta})
      if (func->defined()) func->bound(scan_.j, 0, scan_.tile.tokens());
    for (Func* func : {&scan_.key, &scan_.query, &scan_.fading_key})
      if (func->defined()) in_vectors(*func, scan_.d, lanes_);
    scan_.key.bound(scan_.d, 0, scan_.padded_width);
    scan_.key_by_token.vectorize(scan_.j, lanes_);
    if (scan_.query.defined()) bound_rows(scan_.query);
    if (!scan_.decay.defined()) return;
    scan_.fade.vectorize(scan_.j, lanes_);
    scan_.fade.update().reorder(scan_.j, scan_.fade.rvars()[0]).vectorize(scan_.j, lanes_);
  }

  void schedule_inverse() {
    once_a_chunk(scan_.erase);
    once_a_chunk(scan_.inverse);
    bound_rows(scan_.erase);
    scan_.erase.bound(scan_.j, 0, scan_.tile.tokens());
    in_blocks(scan_.erase, scan_.overlap, scan_.j, token_size_);
    scan_.inverse.bound(scan_.j, 0, scan_.tile.tokens()).vectorize(scan_.j, lanes_);
    const Var vector, lane;
    scan_.inverse.update().split(scan_.j, vector, lane, lanes_).reorder(lane, vector, RVar(scan_.erased.x.name()), RVar(scan_.erased.y.name())).vectorize(lane);
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
    scan_.scores.compute_at(scan_.read, scan_.b).bound_storage(scan_.j, scan_.tile.tokens()).bound_extent(scan_.r, scan_.tile.rows);
    in_blocks(scan_.scores, scan_.products, scan_.j, token_size_);
  }

  void schedule_carried() {
    once_a_chunk(scan_.carried);
    scan_.carried.bound(scan_.c, 0, scan_.used_columns).vectorize(scan_.c, lanes_);
    const Var block, inside, vector, lane;
    const RVar rows("state_rows"), row("state_row");
    scan_.carried.update()
        .split(RVar(scan_.carried_over.x.name()), rows, row, scan_.tile.rows, TailStrategy::GuardWithIf)
        .split(scan_.c, block, inside, size_, TailStrategy::RoundUp)
        .split(inside, vector, lane, lanes_)
        .reorder(lane, vector, row, rows, block)
        .vectorize(lane)
        .unroll(vector)
        .unroll(row);
    scan_.gain.compute_at(scan_.carried, rows).bound_extent(scan_.c, size_).bound_extent(scan_.d, scan_.tile.rows);
    in_registers(scan_.gain, scan_.c, scan_.d);
    in_registers(scan_.gain.update(), scan_.c, scan_.d, scan_.gain.rvars());
  }

  ChunkScan& scan_;
  const int lanes_, size_, token_size_;
};

}  // namespace

std::vector<Parameter> chunked_scan_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("chunked_scan", machine, size,
                       {{"chunk", {1, 16, 32, 64, 128}}, {"vectors", {1, 2, 4, 8}}, {"register_rows", {2, 4, 8}}, {"register_vectors", {1, 2, 4}}});
}

std::string chunked_scan_problem(const Machine&, const std::vector<Parameter>& values) {
  return multiple_problem("chunked_scan", values, "vectors", "register_vectors");
}

Stored chunked_scan(const RecurrenceBody& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(values, name)); };
  const int lanes = machine.vector_bytes / 4, columns = lanes * value("vectors"), chunk = value("chunk"), rows = value("register_rows");
  if (chunk == 1 || body.has_channel_decay) {
    TokenScan scan(body, extents, columns, false);
    schedule_states(scan, lanes);
    schedule_tokens(scan, lanes);
    return scan.stored();
  }
  ChunkScan scan(body, extents, {columns, rows, chunk / rows, false, lanes * value("register_vectors")});
  schedule_states(scan, lanes);
  ChunkSchedule(scan, lanes, value("register_vectors")).apply();
  return scan.stored();
}

}  // namespace attune
