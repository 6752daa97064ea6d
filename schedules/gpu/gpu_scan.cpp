#include "schedules/common/token_scan.h"
#include "schedules/gpu/gpu.h"
#include "schedules/records/tuned.h"

using Halide::Func;

namespace attune {
namespace {

/// Each thread has a column of a state, in the device's memory, and walks the tokens for it.
void schedule_on_gpu(TokenScan& scan) {
  Func driver = scan.driver();
  driver.compute_root();
  driver.update().allow_race_conditions().gpu_blocks(scan.task_loop()).gpu_threads(scan.column_loop());
  scan.state.compute_root().bound(scan.c, 0, scan.tile.columns).reorder(scan.d, scan.c, scan.n).gpu_blocks(scan.n).gpu_threads(scan.c);
  for (Func* func : {&scan.held, &scan.taken, &scan.written, &scan.carried, &scan.read})
    if (func->defined()) func->compute_at(driver, scan.chunk_loop());
  if (scan.decay.defined() && !scan.body.has_channel_decay) scan.decay.compute_at(driver, scan.chunk_loop());
  if (!scan.body.query) driver.bound(scan.c, 0, scan.tile.columns).gpu_blocks(scan.n).gpu_threads(scan.c);
  if (!scan.last.defined()) return;
  scan.last.compute_root();
  scan.last.update().allow_race_conditions().gpu_blocks(scan.last_task_loop()).gpu_threads(scan.last_column_loop());
}

}  // namespace

std::vector<Parameter> gpu_scan_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_scan", machine, size, {{"block_columns", {16, 32, 64, 128}}});
}

Stored gpu_scan(const RecurrenceBody& body, const Extents& extents, const Machine&, const std::vector<Parameter>& values) {
  TokenScan scan(body, extents, {.columns = static_cast<int>(value_of(values, "block_columns")), .is_by_column = true});
  schedule_on_gpu(scan);
  return scan.stored();
}

}  // namespace attune
