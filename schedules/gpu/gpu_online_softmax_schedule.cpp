#include "schedules/gpu/gpu_online_softmax_stage.h"

using Halide::Func;
using Halide::MemoryType;
using Halide::RDom;
using Halide::RVar;
using Halide::Stage;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {

void GpuSoftmax::schedule_block(Func& kernel, const VarOrRVar& block) {
  const RVar key_block = blocks_.x;
  const Halide::LoopLevel level = block.is_rvar ? Halide::LoopLevel(kernel, block.rvar) : Halide::LoopLevel(kernel, block.var);
  for (Func* f : {&state_, &totals_})
    if (f->defined()) f->compute_at(level).bound_extent(thread_, tiles_.columns).bound_extent(row_, tiles_.queries()).bound_extent(block_, 1);
  state_.store_in(MemoryType::Register);
  by_threads(state_, thread_, row_, threads());
  const Var y("y-"), of_thread("of_thread-");
  state_.update().split(row_, y, of_thread, tiles_.thread_rows).reorder(of_thread, thread_, y, key_block).unroll(of_thread).gpu_threads(thread_, y);
  if (totals_.defined()) {
    totals_.store_in(MemoryType::GPUShared).reorder_storage(row_, thread_, block_);
    by_threads(totals_, thread_, row_, threads());
  }

  const auto at_key_block = [&](Func& f) -> Func& {
    return f.compute_at(state_, key_block)
        .bound_extent(thread_, tiles_.columns)
        .bound_extent(row_, tiles_.queries())
        .bound_extent(key_block_, 1)
        .bound_extent(block_, 1);
  };
  for (Func* f : {&scores_, &weights_}) {
    if (!f->defined()) continue;
    at_key_block(*f).bound_extent(number_, tiles_.thread_keys).store_in(MemoryType::Register);
    by_threads(*f, thread_, row_, threads(), {number_});
  }
  if (has_product()) schedule_product(at_key_block(product_));
  if (body_.has_softmax) {
    at_key_block(thread_maximum_).store_in(MemoryType::GPUShared).reorder_storage(row_, thread_).align_storage(row_, tiles_.queries() + row_padding);
    by_threads(thread_maximum_, thread_, row_, threads());
    at_key_block(reference_).store_in(MemoryType::Register);
    by_threads(reference_, thread_, row_, threads());
  }
  schedule_shared_weights(at_key_block(shared_weights_));
  at_key_block(partial_);
  schedule_partial();
}

/// Each thread stores the weights that it computed, for all threads to read; rows are padded, so that lanes are in different banks.
void GpuSoftmax::schedule_shared_weights(Func& weights) {
  weights.bound_extent(number_, tiles_.thread_keys).store_in(MemoryType::GPUShared);
  weights.reorder_storage(row_, thread_, number_).align_storage(row_, tiles_.queries() + row_padding);
  const Var y("y-"), of_thread("of_thread-");
  weights.split(row_, y, of_thread, tiles_.thread_rows).reorder(of_thread, number_, thread_, y);
  weights.unroll(of_thread).unroll(number_).gpu_threads(thread_, y);
}

void GpuSoftmax::schedule_product(Func& product) {
  product.bound_extent(number_, tiles_.thread_keys).store_in(MemoryType::Register);
  by_threads(product, thread_, row_, threads(), {number_});
  const Var y("y-"), of_thread("of_thread-");
  const RVar vectors("vectors-"), in_vector("in_vector-"), chunk = over_.y;
  Stage update = product.update();
  update.split(over_.x, vectors, in_vector, gpu_vector).split(row_, y, of_thread, tiles_.thread_rows);
  update.reorder(in_vector, number_, of_thread, vectors, thread_, y, chunk)
      .unroll(in_vector)
      .unroll(number_)
      .unroll(of_thread)
      .gpu_threads(thread_, y);
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
  const Var y("y-"), of_thread("of_thread-");
  const RVar chunk("chunk-"), in_chunk("in_chunk-");
  Stage update = partial_.update();
  update.split(row_, y, of_thread, tiles_.thread_rows).split(keys_of_block_.y, chunk, in_chunk, tiles_.staged_keys);
  update.reorder(element_, of_thread, keys_of_block_.x, in_chunk, thread_, y, chunk);
  update.unroll(element_).unroll(of_thread).unroll(keys_of_block_.x, gpu_vector).gpu_threads(thread_, y);
  value_.compute_at(partial_, chunk).bound_extent(key_, tiles_.staged_keys * tiles_.columns).bound_extent(key_block_, 1).bound_extent(block_, 1);
  stage_in_block(value_, body_.value, column_, tiles_.values(), key_, body_.keys, threads());
}

}  // namespace attune
