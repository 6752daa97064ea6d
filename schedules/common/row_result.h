/// What CPU templates store for each row beside their result (codegen/halide/bodies/stage.h, RowResult), while a row's numbers are at hand.
#pragma once

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/softmax_math.h"

namespace attune {

/// The logarithms of a softmax's totals; empty where the stage stores none.
class StoredLogSumExp {
 public:
  explicit StoredLogSumExp(const std::optional<RowResult>& result);

  bool is_wanted() const { return func_.defined(); }
  /// The total of a row at these coordinates; where it is computed, its log_sum_exp_of is stored. Of a Func that is stored and has one element a row.
  Halide::Expr storing(const Halide::Expr& total, const Halide::Expr& maximum, const Coordinates& row) const;
  /// For Stored::beside.
  std::vector<StoredBeside> results() const;

 private:
  std::optional<RowResult> result_;
  Halide::Func func_;
};

/// What is stored of a row's logarithm.
Halide::Expr finished(const RowResult& result, const Halide::Expr& log_sum_exp, const Coordinates& row);

}  // namespace attune
