#include "codegen/halide/numbers/strict.h"
#include "schedules/common/opaque_condition.h"
#include "schedules/common/row_result.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/gpu/gpu_online_softmax_stage.h"

using Halide::Expr;
using Halide::Func;
using Halide::MemoryType;
using Halide::RDom;
using Halide::RVar;
using Halide::Stage;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {

Expr GpuSoftmax::result(const Halide::FuncRef& state, const Expr& element, const Expr& total, const Coordinates& at) const {
  std::vector<Expr> sums;
  for (int n = 0; n < tiles_.thread_values; ++n) sums.push_back(state[n]);
  const Expr value = Halide::mux(element, sums) * Halide::select(strict_equal(total, 0.f), 0.f, 1.f / total);
  return body_.finish ? body_.finish(value, at) : value;
}

Expr GpuSoftmax::total(const std::function<Expr(int thread)>& of_thread) const {
  Expr sum = of_thread(0);
  for (int n = 1; n < tiles_.columns; ++n) sum += of_thread(n);
  return sum;
}

Coordinates GpuSoftmax::at_vars(const std::vector<std::string>& dims) {
  Coordinates at;
  for (const std::string& dim : dims) at[dim] = Var(dim);
  return at;
}

Stored GpuSoftmax::stored_by_the_kernel() {
  RDom all(0, tiles_.thread_values, 0, tiles_.thread_rows, 0, tiles_.columns, 0, tiles_.rows, 0, grid_.extent(), "all");
  const RVar element = all[0], of_thread = all[1], thread = all[2], threads_y = all[3], block = all[4];
  const Expr row = threads_y * tiles_.thread_rows + of_thread;
  const Coordinates blocks = place_of(block);
  const Expr query = blocks.at(query_block) * tiles_.queries() + row, column = blocks.at(value_tile) * tiles_.values() + column_of(element, thread);
  all.where(opaque_condition(query < queries_ && column < depth_));
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

Stored GpuSoftmax::stored_with_log_sum_exp() {
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

void GpuSoftmax::schedule_block(Func& kernel, const VarOrRVar& block) {
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

void GpuSoftmax::schedule_product(Func& product) {
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

void GpuSoftmax::schedule_partial() {
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

}  // namespace attune
