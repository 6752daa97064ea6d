#include "schedules/common/placed_rows.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/records/tuned.h"

namespace attune {

std::vector<Parameter> gpu_pointwise_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_pointwise", machine, size,
                       {{"block_columns", {8, 16, 32, 64}}, {"block_rows", {1, 2, 4, 8}}, {"thread_rows", {1, 2, 4, 8}}});
}

/// All elements of a thread are in registers before the first is stored: their loads wait for memory at the same time.
Stored gpu_pointwise(const Pointwise& body, const Extents& extents, const Machine&, const std::vector<Parameter>& values) {
  if (body.walk) return gpu_row_walk(body, extents, gpu_tile(values));
  if (body.choice) return gpu_row_choice(body, extents, gpu_tile(values));
  if (body.places) {
    PlacedRows written = placed_rows(body, extents);
    Halide::Stage stage = written.func.update();
    Halide::RVar all = written.loops[0], block("block-"), thread("thread-");
    for (std::size_t n = 1; n < written.loops.size(); ++n) {
      Halide::RVar both;
      stage.fuse(all, written.loops[n], both);
      all = both;
    }
    constexpr int block_threads = 64;
    stage.split(all, block, thread, block_threads, Halide::TailStrategy::GuardWithIf).gpu_blocks(block).gpu_threads(thread);
    return {written.func, body.out};
  }
  const auto element = [&](const Exprs&, const Coordinates& at) { return Exprs{body.x.at(at)}; };
  const auto same = [](const Exprs& elements, const Coordinates&) { return elements; };
  return {reduced_on_gpu({"pointwise", gpu_grid(body.out), {}, {}, element, same}, extents, gpu_tile(values)), body.out};
}

}  // namespace attune
