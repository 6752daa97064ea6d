#include "schedules/common/row_result.h"

#include "codegen/halide/rewrites/store_beside.h"

using Halide::Expr;
using Halide::Var;

namespace attune {

Expr finished(const RowResult& result, const Expr& log_sum_exp, const Coordinates& row) {
  return result.finish ? result.finish(log_sum_exp, row) : log_sum_exp;
}

StoredLogSumExp::StoredLogSumExp(const std::optional<RowResult>& result) : result_(result) {
  if (!result_) return;
  Coordinates at;
  for (const std::string& dim : result_->out) at[dim] = Var(dim);
  const std::vector<Var> dims(result_->out.rbegin(), result_->out.rend());
  func_ = stored_elsewhere("log_sum_exp", finished(*result_, 0.f, at).type(), dims);
}

Expr StoredLogSumExp::storing(const Expr& total, const Expr& maximum, const Coordinates& row) const {
  std::vector<Expr> place;
  for (auto dim = result_->out.rbegin(); dim != result_->out.rend(); ++dim) place.push_back(row.at(*dim));
  return attune::storing(total, finished(*result_, log_sum_exp_of(maximum, total), row), func_(place));
}

std::vector<StoredBeside> StoredLogSumExp::results() const {
  if (!is_wanted()) return {};
  return {{func_, result_->out}};
}

}  // namespace attune
