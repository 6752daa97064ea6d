#include "schedules/gpu/gpu_block.h"

#include "schedules/common/tiles.h"

using Halide::Expr;
using Halide::Func;
using Halide::Var;
using Halide::VarOrRVar;

namespace attune {

void by_threads(Func func, const Var& thread, const Var& row, const BlockThreads& threads, const std::vector<Var>& inner) {
  const Var y("y-"), of_thread("of_thread-");
  func.split(row, y, of_thread, threads.thread_rows);
  std::vector<VarOrRVar> order(inner.begin(), inner.end());
  order.insert(order.end(), {of_thread, thread, y});
  func.reorder(order);
  for (const Var& var : inner) func.unroll(var);
  func.unroll(of_thread).gpu_threads(thread, y);
}

void stage_in_block(Func func, const Piece& piece, const Var& inner, int extent, const Var& outer, const std::string& outer_dim,
                    const BlockThreads& threads) {
  const Var both("both-"), each("each-"), x("x-"), y("y-"), in_vector("in_vector-"), vectors("vectors-");
  func.store_in(Halide::MemoryType::GPUShared).bound_extent(inner, extent).split(inner, vectors, in_vector, gpu_vector);
  // OpenCL's compiler takes few functions of vectors, and no strict comparisons of them.
  if (piece.load()) func.vectorize(in_vector);
  else func.unroll(in_vector);
  if (lies_along(piece, outer_dim)) func.fuse(outer, vectors, both);
  else func.fuse(vectors, outer, both);
  func.split(both, each, x, threads.count(), Halide::TailStrategy::GuardWithIf)
      .split(x, y, x, threads.columns)
      .reorder(in_vector, each, x, y)
      .gpu_threads(x, y);
}

std::vector<Var> vars_of_memory(const std::vector<std::string>& dims) { return {dims.rbegin(), dims.rend()}; }

int up_to_multiple(int number, int of) { return (number + of - 1) / of * of; }

}  // namespace attune
