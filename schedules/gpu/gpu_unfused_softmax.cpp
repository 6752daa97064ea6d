#include <limits>
#include <utility>

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/vector_math.h"
#include "schedules/common/scores.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_grid.h"
#include "schedules/gpu/gpu_log_sum_exp.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;

namespace attune {
namespace {

std::vector<std::string> joined(std::vector<std::string> dims, const std::vector<std::string>& more) {
  dims.insert(dims.end(), more.begin(), more.end());
  return dims;
}

/// What is summed over body.over, or the raw score where there is nothing to sum.
Expr term_at(const OnlineSoftmax& body, const Coordinates& at) {
  if (body.score) return body.score.at(at);
  const Expr query = body.query ? body.query.at(at) : Expr(), key = body.key ? body.key.at(at) : Expr();
  return score_term(body, query, key, at);
}

/// [batch.., queries, keys]; -infinity where not visible.
Func scores_of(const OnlineSoftmax& body, const std::vector<std::string>& dims, const Extents& extents, const GpuTile& tile) {
  const auto step = [&](const Expr& sum, const Coordinates& at) { return sum + term_at(body, at); };
  const auto finish = [&](const Expr& sum, const Coordinates& at) {
    const Expr score = body.change && !body.score ? body.change(sum, at) : sum;
    return body.visible ? Halide::select(body.visible(at), score, hidden_score()) : score;
  };
  const std::vector<std::string> over = body.score ? std::vector<std::string>{} : body.over;
  return reduced_on_gpu({"scores", gpu_grid(dims), over, 0.f, step, finish}, extents, tile);
}

}  // namespace

std::vector<Parameter> gpu_unfused_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_unfused_softmax", machine, size,
                       {{"block_columns", {8, 16, 32}}, {"block_rows", {4, 8, 16}}, {"thread_columns", {1, 2, 4, 8}}, {"thread_rows", {1, 2, 4, 8}}});
}

Stored gpu_unfused_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine&, const std::vector<Parameter>& values) {
  const GpuTile tile = gpu_tile(values), row_tile{tile.block_columns, tile.block_rows};
  const std::vector<std::string> rows = joined(body.batch, {body.queries}), pairs = joined(rows, {body.keys});
  const Func scores = scores_of(body, pairs, extents, tile);
  // From the lowest number, not from -infinity: a row of -infinity then subtracts a number.
  const auto larger = [&](const Expr& maximum, const Coordinates& at) { return Halide::max(maximum, value_at(scores, pairs, at)); };
  const Func maximum = reduced_on_gpu({"row_maximum", gpu_grid(rows), {body.keys}, std::numeric_limits<float>::lowest(), larger, {}}, extents, row_tile);
  const auto weight = [&](const Coordinates& at) { return softmax_exp2((value_at(scores, pairs, at) - value_at(maximum, rows, at)) * log2_e); };
  const auto added = [&](const Expr& sum, const Coordinates& at) { return sum + weight(at); };
  const Func total = reduced_on_gpu({"row_sum", gpu_grid(rows), {body.keys}, 0.f, added, {}}, extents, row_tile);

  const auto step = [&](const Expr& sum, const Coordinates& at) {
    const Expr w = weight(at);
    return sum + (body.weight ? body.weight(w, at) : w) * body.value.at(at);
  };
  const auto finish = [&](const Expr& sum, const Coordinates& at) {
    const Expr all = value_at(total, rows, at), result = Halide::select(strict_equal(all, 0.f), 0.f, sum / all);
    return body.finish ? body.finish(result, at) : result;
  };
  const GpuGrid grid = gpu_grid(body.out, [&](const std::string& dim) { return dim == body.queries; });
  const Func result = reduced_on_gpu({"weighted_sum", grid, {body.keys}, 0.f, step, finish}, extents, tile);
  return {result, body.out, log_sum_exp_on_gpu(body.log_sum_exp, maximum, total, rows, extents, row_tile)};
}

}  // namespace attune
