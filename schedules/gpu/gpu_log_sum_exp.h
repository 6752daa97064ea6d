/// The logarithms of a softmax's totals on a GPU, from tables of its rows.
#pragma once

#include "codegen/halide/bodies/stage.h"
#include "schedules/gpu/gpu_grid.h"

namespace attune {

/// For Stored::beside: one where the stage stores it. `maximum` and `total` are of `rows`; maxima are natural, not of base 2.
std::vector<StoredBeside> log_sum_exp_on_gpu(const std::optional<RowResult>& result, const Halide::Func& maximum, const Halide::Func& total,
                                             const std::vector<std::string>& rows, const Extents& extents, const GpuTile& tile);

}  // namespace attune
