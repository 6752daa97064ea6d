/// How a GPU computes a Func: blocks of threads over two of its dims, and sums that each thread keeps to itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/softmax_math.h"
#include "schedules/records/parameters.h"

namespace attune {

/// Threads of a block along the columns and the rows that are tiled, and how many neighbouring elements along each a thread computes.
struct GpuTile {
  int block_columns = 16, block_rows = 16, thread_columns = 1, thread_rows = 1;
};

/// The values of the parameters of these names; an element a thread where there is none.
GpuTile gpu_tile(const std::vector<Parameter>& values);

/// The dims of a Func, outermost first, of which `columns` and `rows` are tiled; they are empty where there is no such dim.
struct GpuGrid {
  std::vector<std::string> dims;
  std::string columns, rows;
};

/// Columns are the innermost dim, so that neighbouring threads touch neighbouring memory; rows are the innermost of the others that
/// `is_row` takes, or that there are.
GpuGrid gpu_grid(const std::vector<std::string>& dims, const std::function<bool(const std::string&)>& is_row = nullptr);

/// Computes the Func, whose arguments are the grid's dims from the innermost, at the root in a kernel of its own. All blocks lie along one
/// dim, which is the only one of which CUDA allows more than 65535. No extent may be 0.
void run_on_gpu(Halide::Func func, const GpuGrid& grid, const Extents& extents, const GpuTile& tile);

/// The index, from 0 to extent - 1, hidden from bounds inference: a select on it would narrow what a thread computes of the value that
/// it selects, so that the thread's registers were too few.
Halide::Expr hidden_index(const Halide::Expr& index, const Halide::Expr& extent);

/// result(at) = finish(values, at), which may be several numbers, with values = initial, and then step(values, at and an index) for each index along
/// `over`, once without any; or, where there are no initial values, with values = step({}, at).
struct GpuReduction {
  std::string name;
  GpuGrid grid;
  std::vector<std::string> over;
  Exprs initial;
  std::function<Exprs(const Exprs& values, const Coordinates& at)> step;
  std::function<Exprs(const Exprs& values, const Coordinates& at)> finish;
};

/// The reduction as run_on_gpu computes it; each thread has its values in registers.
Halide::Func reduced_on_gpu(const GpuReduction& reduction, const Extents& extents, const GpuTile& tile);

/// Values over the dims, at position 0 along one of them `initial`, and behind it step(values at the position before, its coordinates): a thread has all
/// positions of its rows. The Func's arguments are the dims from the innermost.
struct GpuRunning {
  std::string name;
  std::vector<std::string> dims;
  std::string along;
  Exprs initial;
  std::function<Exprs(const Exprs& values, const Coordinates& at)> step;
};
Halide::Func running_on_gpu(const GpuRunning& running, const Extents& extents, const GpuTile& tile);

}  // namespace attune
