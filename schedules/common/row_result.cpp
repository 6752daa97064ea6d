#include "schedules/common/row_result.h"

#include <limits>

#include "codegen/halide/numbers/opaque_real.h"
#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/rewrites/store_beside.h"
#include "schedules/common/tiles.h"

using Halide::Expr;
using Halide::Var;

namespace attune {

Expr finished(const RowResult& result, const Expr& value, const Coordinates& row) {
  return result.finish ? result.finish(value, row) : value;
}

/// The total is NaN where the greatest is +infinity, too.
Expr row_maximum_of(const Expr& greatest, const Expr& total) {
  const Expr infinity = opaque_real(std::numeric_limits<float>::infinity());
  const Expr known = Halide::select(strict_equal(greatest, infinity) || strict_equal(total, total), greatest, total);
  return Halide::select(strict_equal(total, 0.f), hidden_score(), known);
}

StoredOfRows::StoredOfRows(const char* name, const std::optional<RowResult>& result) : result_(result) {
  if (!result_) return;
  const std::vector<Var> dims(result_->out.rbegin(), result_->out.rend());
  func_ = stored_elsewhere(name, finished(*result_, 0.f, vars_at(result_->out)).type(), dims);
}

Expr StoredOfRows::storing(const Expr& kept, const Expr& value, const Coordinates& row) const {
  if (!is_wanted()) return kept;
  return attune::storing(kept, finished(*result_, value, row), func_(innermost_first(result_->out, row)));
}

void StoredOfRows::add_to(std::vector<StoredBeside>& beside) const {
  if (is_wanted()) beside.push_back({func_, result_->out});
}

Expr StoredRows::storing(const Expr& of_row, const Expr& reference, const Expr& greatest, const Coordinates& row) const {
  if (total.is_wanted()) return total.storing(of_row, of_row, row);
  return maximum.storing(log_sum_exp.storing(of_row, log_sum_exp_of(reference, of_row), row), row_maximum_of(greatest, of_row), row);
}

std::vector<StoredBeside> StoredRows::results() const {
  std::vector<StoredBeside> beside;
  log_sum_exp.add_to(beside);
  maximum.add_to(beside);
  total.add_to(beside);
  return beside;
}

}  // namespace attune
