/// One kernel: scores, weights and the state of an online softmax in the registers of a block's threads, operands in the memory that they share.
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "codegen/halide/numbers/strict.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/common/row_result.h"
#include "schedules/common/scores.h"
#include "schedules/common/softmax_math.h"
#include "schedules/common/tiles.h"
#include "schedules/gpu/devices.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_block.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;
using Halide::MemoryType;
using Halide::RDom;
using Halide::RVar;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {
namespace {

// Dims of the grid beside those of the batch.
constexpr const char *query_block = "query block", *value_tile = "value tile";

/// Threads are `columns` x `rows` a block. A thread has `thread_rows` queries, `thread_keys` keys of each block of keys and `thread_values` columns of
/// the result; operands are staged `over` elements of the contracted dims, and `staged_keys` values a thread, at once.
struct Tiles {
  int columns, rows, thread_rows, thread_keys, thread_values, over, staged_keys;

  int queries() const { return rows * thread_rows; }
  int keys() const { return columns * thread_keys; }
  int values() const { return columns * thread_values; }
};

Tiles tiles_from(const std::vector<Parameter>& values) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(values, name)); };
  return {value("block_columns"), value("block_rows"), value("thread_rows"), value("thread_keys"), value("thread_values"), value("over_chunk"), value("value_chunk")};
}

class GpuSoftmax {
 public:
  GpuSoftmax(const OnlineSoftmax& body, const Extents& extents, Device device, const Tiles& tiles)
      : body_(body),
        extents_(extents),
        device_(device),
        tiles_(fitted(tiles)),
        queries_(extents.at(body.queries)),
        keys_(extents.at(body.keys)),
        depth_(extents.at(body.value_depth)),
        grid_(blocks_of_threads()) {}

  Stored build() {
    define_operands();
    define_scores();
    define_weights();
    define_state();
    if (body_.log_sum_exp) return stored_with_log_sum_exp();
    return stored_by_the_kernel();
  }

 private:
  /// No more columns and chunks than known extents need.
  Tiles fitted(Tiles tiles) const {
    if (const auto depth = fixed_value(extents_.at(body_.value_depth)))
      tiles.thread_values = std::min(tiles.thread_values, up_to_multiple((std::max(*depth, 1) + tiles.columns - 1) / tiles.columns, gpu_vector));
    if (const auto over = fixed_value(Flat(body_.over, extents_).extent())) tiles.over = std::min(tiles.over, up_to_multiple(std::max(*over, 1), gpu_vector));
    return tiles;
  }

  BlockThreads threads() const { return {tiles_.columns, tiles_.rows, tiles_.thread_rows}; }
  bool has_product() const { return !body_.score && !body_.over.empty(); }
  bool is_base_2() const { return is_plain_product(body_); }

  Expr power(const Expr& x) const { return power_of_2_on(device_, x); }
  Expr larger(const Expr& a, const Expr& b) const { return maximum_on(device_, a, b); }

  /// The dims of the grid, of which the last is walked fastest: those of the batch, tiles of columns and blocks of queries.
  Flat blocks_of_threads() const {
    std::vector<std::string> dims = body_.batch;
    dims.insert(dims.end(), {value_tile, query_block});
    Extents extents = extents_;
    extents[value_tile] = tiles_of(depth_, tiles_.values());
    extents[query_block] = tiles_of(queries_, tiles_.queries());
    return {dims, extents};
  }
  Coordinates place_of(const Expr& block) const {
    Coordinates at;
    grid_.place(block, at);
    return at;
  }
  Coordinates at_query(const Expr& row) const {
    Coordinates at = place_of(block_);
    at[body_.queries] = clamped(at.at(query_block) * tiles_.queries() + row, queries_, false);
    return at;
  }
  Expr key_place(const Expr& key) const { return Expr(key_block_) * tiles_.keys() + key; }
  Expr key_of(const Expr& key) const { return clamped(key_place(key), keys_, false); }
  /// The column of the value tile that a thread's element is: neighbouring threads have neighbouring vectors.
  Expr column_of(const Expr& element, const Expr& thread) const {
    return (element / gpu_vector) * (gpu_vector * tiles_.columns) + thread * gpu_vector + element % gpu_vector;
  }
  Expr key_in_block(const Expr& number, const Expr& thread) const { return number * tiles_.columns + thread; }

  Flat over() const { return {body_.over, extents_}; }

  /// Chunks of the operands in shared memory. Beyond the contracted dims and the last key they are 0.
  void define_operands() {
    if (has_product()) {
      const Expr index = Expr(chunk_) * tiles_.over + Expr(in_chunk_), extent = over().extent();
      const auto staged = [&](const Expr& element) { return is_whole_chunks() ? element : Halide::select(opaque_condition(index < extent), element, 0.f); };
      Coordinates at = at_query(row_);
      over().place(clamped(index, extent, false), at);
      if (body_.query) query_(in_chunk_, row_, chunk_, block_) = staged(query_of_product(body_, at));
      at[body_.keys] = key_of(key_);
      if (body_.key) key_operand_(in_chunk_, key_, chunk_, key_block_, block_) = staged(body_.key.at(at));
    }
    Coordinates at = place_of(block_);
    at[body_.keys] = key_of(key_);
    at[body_.value_depth] = clamped(at.at(value_tile) * tiles_.values() + Expr(column_), depth_, false);
    value_(column_, key_, key_block_, block_) =
        Halide::select(opaque_condition(key_place(key_) < keys_), body_.value.at(at), 0.f);
  }

  bool is_whole_chunks() const {
    const auto extent = fixed_value(over().extent());
    return extent && *extent % tiles_.over == 0;
  }

  Coordinates score_coordinates() const {
    Coordinates at = at_query(row_);
    at[body_.keys] = key_of(key_in_block(number_, thread_));
    return at;
  }

  void define_scores() {
    const Exprs place = {number_, thread_, row_, key_block_, block_};
    Coordinates at = score_coordinates();
    Expr raw;
    if (has_product()) {
      over_ = RDom(0, tiles_.over, 0, tiles_of(over().extent(), tiles_.over), "over");
      const Expr query = body_.query ? query_(over_.x, row_, over_.y, block_) : Expr();
      const Expr key = body_.key ? key_operand_(over_.x, key_in_block(number_, thread_), over_.y, key_block_, block_) : Expr();
      const Expr index = over_.y * tiles_.over + over_.x;
      Coordinates in_sum = at;
      over().place(clamped(index, over().extent(), false), in_sum);
      Expr term = score_term(body_, query, key, in_sum);
      if (body_.combine && !is_whole_chunks()) term = Halide::select(opaque_condition(index < over().extent()), term, 0.f);
      product_(place) = 0.f;
      product_(place) += term;
      raw = product_(place);
    } else {
      raw = raw_score(body_, at, [] { return Expr(); });
    }
    const Expr exists = key_place(key_in_block(number_, thread_)) < keys_;
    scores_(place) = Halide::select(opaque_condition(is_seen(body_, at, exists)), changed_score(body_, raw, at, is_base_2()), hidden_score());
  }

  void define_weights() {
    const Exprs row = {thread_, row_, key_block_, block_}, place = joined({number_}, row);
    Expr maximum = scores_(joined({0}, row));
    for (int n = 1; n < tiles_.thread_keys; ++n) maximum = larger(maximum, scores_(joined({n}, row)));
    thread_maximum_(row) = maximum;
    Expr reference = std::numeric_limits<float>::lowest();
    for (int n = 0; n < tiles_.columns; ++n) reference = larger(reference, thread_maximum_(n, row_, key_block_, block_));
    reference_(row) = reference;
    weights_(place) = power(scores_(place) - reference_(row));
    shared_weights_(place) = body_.weight ? body_.weight(weights_(place), score_coordinates()) : weights_(place);
    keys_of_block_ = RDom(0, tiles_.columns, 0, tiles_.thread_keys, "keys_of_block");
    const Exprs partial = joined({element_}, row);
    partial_(partial) = 0.f;
    partial_(partial) += shared_weights_(keys_of_block_.y, keys_of_block_.x, row_, key_block_, block_) *
                         value_(column_of(element_, thread_), key_in_block(keys_of_block_.y, keys_of_block_.x), key_block_, block_);
  }

  /// Some element of the two blocks may be visible.
  Expr may_be_visible(const Expr& key_block) const {
    if (!body_.visibility) return {};
    Coordinates at;
    grid_.place_unpromised(block_, at);
    const Expr first_row = at.at(query_block) * tiles_.queries(), first_key = key_block * tiles_.keys();
    Block block;
    for (const std::string& dim : body_.batch) block[dim] = {at.at(dim), at.at(dim)};
    block[body_.queries] = {first_row, Halide::min(first_row + tiles_.queries(), queries_) - 1, at.at(query_block), tiles_.queries()};
    block[body_.keys] = {first_key, Halide::min(first_key + tiles_.keys(), keys_) - 1, key_block, tiles_.keys()};
    return body_.visibility(block).possibly;
  }

  /// (o for each of a thread's columns, m, l of the thread's own keys); m is the same for all threads of a row.
  void define_state() {
    const Exprs row = {thread_, row_, block_};
    std::vector<Expr> none(static_cast<std::size_t>(tiles_.thread_values), 0.f);
    none.insert(none.end(), {Expr(std::numeric_limits<float>::lowest()), Expr(0.f)});
    state_(row) = Halide::Tuple(none);
    blocks_ = RDom(0, tiles_of(keys_, tiles_.keys()), "key_blocks");
    if (const Expr visible = may_be_visible(blocks_.x); visible.defined()) blocks_.where(opaque_condition(visible));
    const Exprs of_block = {thread_, row_, blocks_.x, block_};
    const Halide::FuncRef before = state_(row);
    const int values = tiles_.thread_values;
    const Expr reference_before = before[values], reference = larger(reference_before, reference_(of_block));
    const Expr scale_before = power(reference_before - reference), scale = power(reference_(of_block) - reference);
    std::vector<Expr> after;
    for (int n = 0; n < values; ++n) after.push_back(before[n] * scale_before + partial_(joined({n}, of_block)) * scale);
    after.push_back(reference);
    Expr total = weights_(joined({0}, of_block));
    for (int n = 1; n < tiles_.thread_keys; ++n) total += weights_(joined({n}, of_block));
    after.push_back(before[values + 1] * scale_before + total * scale);
    state_(row) = Halide::Tuple(after);
    totals_(row) = state_(row)[values + 1];
  }

  /// The result of a row and one of a thread's columns, whose states and totals of all threads are given.
  Expr result(const Halide::FuncRef& state, const Expr& element, const Expr& total, const Coordinates& at) const {
    std::vector<Expr> sums;
    for (int n = 0; n < tiles_.thread_values; ++n) sums.push_back(state[n]);
    const Expr value = Halide::mux(element, sums) * Halide::select(strict_equal(total, 0.f), 0.f, 1.f / total);
    return body_.finish ? body_.finish(value, at) : value;
  }

  /// Of a row over all threads.
  Expr total(const std::function<Expr(int thread)>& of_thread) const {
    Expr sum = of_thread(0);
    for (int n = 1; n < tiles_.columns; ++n) sum += of_thread(n);
    return sum;
  }

  static Coordinates at_vars(const std::vector<std::string>& dims) {
    Coordinates at;
    for (const std::string& dim : dims) at[dim] = Var(dim);
    return at;
  }

  /// One kernel: each block of threads stores what it has of the result.
  Stored stored_by_the_kernel() {
    const RDom all(0, tiles_.thread_values, 0, tiles_.thread_rows, 0, tiles_.columns, 0, tiles_.rows, 0, grid_.extent(), "all");
    const RVar element = all[0], of_thread = all[1], thread = all[2], threads_y = all[3], block = all[4];
    const Expr row = threads_y * tiles_.thread_rows + of_thread;
    const Coordinates blocks = place_of(block);
    const Expr query = blocks.at(query_block) * tiles_.queries() + row, column = blocks.at(value_tile) * tiles_.values() + column_of(element, thread);
    RDom stored = all;
    stored.where(opaque_condition(query < queries_ && column < depth_));
    Coordinates at = blocks;
    at[body_.queries] = within(query, queries_);
    at[body_.value_depth] = within(column, depth_);
    const Expr value = result(state_(thread, row, block), element, total([&](int n) { return totals_(n, row, block); }), at);
    Func out("online_softmax");
    out(vars_of_memory(body_.out)) = Halide::undef(value.type());
    out(place_in_memory(body_.out, at)) = value;
    out.compute_root();
    out.update().allow_race_conditions().unroll(element).unroll(of_thread).gpu_blocks(block).gpu_threads(thread, threads_y);
    schedule_block(out, block);
    return {out, body_.out};
  }

  /// The states of all rows are stored, and what is stored of each row and element is made of them in kernels of their own.
  Stored stored_with_log_sum_exp() {
    const int values = tiles_.thread_values;
    Func states("states"), out("online_softmax"), log_sum_exp("log_sum_exp");
    std::vector<Expr> state;
    for (int n = 0; n < values + 2; ++n) state.push_back(state_(thread_, row_, block_)[n]);
    states(thread_, row_, block_) = Halide::Tuple(state);
    states.bound(thread_, 0, tiles_.columns).bound(row_, 0, tiles_.queries()).bound(block_, 0, grid_.extent()).compute_root();
    by_threads(states, thread_, row_, threads());
    states.gpu_blocks(block_);
    schedule_block(states, block_);

    const auto states_at = [&](const Coordinates& at, const Expr& thread, const Expr& tile) {
      const Expr query = at.at(body_.queries);
      Coordinates blocks = at;
      blocks[query_block] = query / tiles_.queries();
      blocks[value_tile] = tile;
      return states(thread, query % tiles_.queries(), grid_.index(blocks));
    };
    const auto total_at = [&](const Coordinates& at, const Expr& tile) { return total([&](int n) { return states_at(at, n, tile)[values + 1]; }); };
    const GpuTile tile{tiles_.columns, tiles_.rows};
    const Coordinates at = at_vars(body_.out);
    const Expr in_tile = at.at(body_.value_depth) % tiles_.values(), of_result = at.at(body_.value_depth) / tiles_.values();
    const int stripe = gpu_vector * tiles_.columns;
    const Expr element = (in_tile / stripe) * gpu_vector + in_tile % gpu_vector, thread = (in_tile % stripe) / gpu_vector;
    out(vars_of_memory(body_.out)) = result(states_at(at, thread, of_result), element, total_at(at, of_result), at);
    run_on_gpu(out, gpu_grid(body_.out), extents_, tile);
    const RowResult& wanted = *body_.log_sum_exp;
    const Coordinates row = at_vars(wanted.out);
    log_sum_exp(vars_of_memory(wanted.out)) = finished(wanted, log_sum_exp_of(states_at(row, 0, 0)[values] * ln_2, total_at(row, 0)), row);
    run_on_gpu(log_sum_exp, gpu_grid(wanted.out), extents_, tile);
    return {out, body_.out, {{log_sum_exp, wanted.out}}};
  }

  /// Everything that a block of threads computes, for the Func that it stores.
  void schedule_block(Func& kernel, const VarOrRVar& block) {
    const RVar key_block = blocks_.x;
    const Halide::LoopLevel level = block.is_rvar ? Halide::LoopLevel(kernel, block.rvar) : Halide::LoopLevel(kernel, block.var);
    for (Func* f : {&state_, &totals_}) f->compute_at(level).bound_extent(thread_, tiles_.columns).bound_extent(row_, tiles_.queries()).bound_extent(block_, 1);
    state_.store_in(MemoryType::Register);
    by_threads(state_, thread_, row_, threads());
    const Var y("y"), of_thread("of_thread");
    state_.update().split(row_, y, of_thread, tiles_.thread_rows).reorder(of_thread, thread_, y, key_block).unroll(of_thread).gpu_threads(thread_, y);
    totals_.store_in(MemoryType::GPUShared).reorder_storage(row_, thread_, block_);
    by_threads(totals_, thread_, row_, threads());

    const auto at_key_block = [&](Func& f) -> Func& {
      return f.compute_at(state_, key_block).bound_extent(thread_, tiles_.columns).bound_extent(row_, tiles_.queries()).bound_extent(key_block_, 1).bound_extent(block_, 1);
    };
    for (Func* f : {&scores_, &weights_}) {
      at_key_block(*f).bound_extent(number_, tiles_.thread_keys).store_in(MemoryType::Register);
      by_threads(*f, thread_, row_, threads(), {number_});
    }
    if (has_product()) schedule_product(at_key_block(product_));
    at_key_block(thread_maximum_).store_in(MemoryType::GPUShared).reorder_storage(row_, thread_).align_storage(row_, tiles_.queries() + row_padding);
    by_threads(thread_maximum_, thread_, row_, threads());
    at_key_block(reference_).store_in(MemoryType::Register);
    by_threads(reference_, thread_, row_, threads());
    at_key_block(shared_weights_).bound_extent(number_, tiles_.thread_keys).store_in(MemoryType::GPUShared);
    shared_weights_.reorder_storage(row_, thread_, number_).align_storage(row_, tiles_.queries() + row_padding);
    const Var weights_y("y"), weights_of_thread("of_thread");
    shared_weights_.split(row_, weights_y, weights_of_thread, tiles_.thread_rows).reorder(weights_of_thread, number_, thread_, weights_y);
    shared_weights_.unroll(weights_of_thread).unroll(number_).gpu_threads(thread_, weights_y);
    at_key_block(partial_);
    schedule_partial();
  }

  void schedule_product(Func& product) {
    product.bound_extent(number_, tiles_.thread_keys).store_in(MemoryType::Register);
    by_threads(product, thread_, row_, threads(), {number_});
    const Var y("y"), of_thread("of_thread");
    const RVar vectors("vectors"), in_vector("in_vector"), chunk = over_.y;
    Stage update = product.update();
    update.split(over_.x, vectors, in_vector, gpu_vector).split(row_, y, of_thread, tiles_.thread_rows);
    update.reorder(in_vector, number_, of_thread, vectors, thread_, y, chunk).unroll(in_vector).unroll(number_).unroll(of_thread).gpu_threads(thread_, y);
    if (query_.defined()) {
      query_.compute_at(product, chunk).bound_extent(chunk_, 1).bound_extent(row_, tiles_.queries()).bound_extent(block_, 1);
      stage_in_block(query_, body_.query, in_chunk_, tiles_.over, row_, body_.queries, threads());
    }
    if (key_operand_.defined()) {
      key_operand_.compute_at(product, chunk).align_storage(in_chunk_, tiles_.over + row_padding);
      key_operand_.bound_extent(chunk_, 1).bound_extent(key_, tiles_.keys()).bound_extent(key_block_, 1).bound_extent(block_, 1);
      stage_in_block(key_operand_, body_.key, in_chunk_, tiles_.over, key_, body_.keys, threads());
    }
  }

  void schedule_partial() {
    partial_.bound_extent(element_, tiles_.thread_values).store_in(MemoryType::Register);
    by_threads(partial_, thread_, row_, threads(), {element_});
    const Var y("y"), of_thread("of_thread");
    const RVar chunk("chunk"), in_chunk("in_chunk");
    Stage update = partial_.update();
    update.split(row_, y, of_thread, tiles_.thread_rows).split(keys_of_block_.y, chunk, in_chunk, tiles_.staged_keys);
    update.reorder(element_, of_thread, keys_of_block_.x, in_chunk, thread_, y, chunk);
    update.unroll(element_).unroll(of_thread).unroll(keys_of_block_.x, gpu_vector).gpu_threads(thread_, y);
    value_.compute_at(partial_, chunk).bound_extent(key_, tiles_.staged_keys * tiles_.columns).bound_extent(key_block_, 1).bound_extent(block_, 1);
    stage_in_block(value_, body_.value, column_, tiles_.values(), key_, body_.keys, threads());
  }

  const OnlineSoftmax& body_;
  const Extents& extents_;
  const Device device_;
  const Tiles tiles_;
  const Expr queries_, keys_, depth_;             // extents
  const Flat grid_;                               // all blocks of threads, as one index

  const Var in_chunk_{"in_chunk"}, chunk_{"chunk"}, row_{"row"}, key_{"key"}, column_{"column"}, element_{"element"}, number_{"number"}, thread_{"thread"};
  const Var key_block_{"key_block"}, block_{"block"};  // a block of keys; a block of threads
  Func query_{"query"};                      // [in chunk, row, chunk, block]
  Func key_operand_{"key"};                  // [in chunk, key of block, chunk, key block, block]
  Func value_{"value"};                      // [column of tile, key of block, key block, block]
  Func product_{"product"}, scores_{"scores"}, weights_{"weights"}, shared_weights_{"shared_weights"};  // [number, thread, row, key block, block]
  Func thread_maximum_{"thread_maximum"}, reference_{"reference"};                                      // [thread, row, key block, block]
  Func partial_{"partial"};                  // [element, thread, row, key block, block]
  Func state_{"state"}, totals_{"totals"};   // [thread, row, block]
  RDom over_, keys_of_block_, blocks_;
};

}  // namespace

std::vector<Parameter> gpu_online_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_online_softmax", machine, size,
                       {{"block_columns", {4, 8, 16}},
                        {"block_rows", {4, 8, 16, 32}},
                        {"thread_rows", {1, 2, 4, 8}},
                        {"thread_keys", {2, 4, 8}},
                        {"thread_values", {4, 8, 16}},
                        {"over_chunk", {16, 32, 64}},
                        {"value_chunk", {1, 2, 4}}});
}

std::string gpu_online_softmax_problem(const Machine& machine, const std::vector<Parameter>& values) {
  if (std::string problem = multiple_problem("gpu_online_softmax", values, "thread_keys", "value_chunk"); !problem.empty()) return problem;
  const Tiles tiles = tiles_from(values);
  const std::int64_t queries = tiles.queries(), keys = tiles.keys(), rows = queries + row_padding;
  const std::int64_t products = tiles.over * queries + (tiles.over + row_padding) * keys, sums = keys * rows + tiles.values() * tiles.staged_keys * tiles.columns;
  return shared_memory_problem("gpu_online_softmax", machine.device, products + sums + 2 * tiles.columns * rows);
}

BlockSizes gpu_online_softmax_blocks(const std::vector<Parameter>& values) {
  const Tiles tiles = tiles_from(values);
  return {tiles.queries(), tiles.queries(), tiles.keys(), tiles.keys()};
}

Stored gpu_online_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  return GpuSoftmax(body, extents, machine.device, tiles_from(values)).build();
}

}  // namespace attune
