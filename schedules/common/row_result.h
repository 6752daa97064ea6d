/// What CPU templates store for each row beside their result (codegen/halide/bodies/stage.h, RowResult), while a row's numbers are at hand.
#pragma once

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/softmax_math.h"

namespace attune {

/// A number for each row; empty where the stage stores none.
class StoredOfRows {
 public:
  StoredOfRows(const char* name, const std::optional<RowResult>& result);

  bool is_wanted() const { return func_.defined(); }
  /// `kept`, an element of a Func that is stored and has one for each row; where it is computed, `value` is stored for the row at these coordinates.
  /// `kept` itself if nothing is wanted.
  Halide::Expr storing(const Halide::Expr& kept, const Halide::Expr& value, const Coordinates& row) const;
  /// For Stored::beside.
  void add_to(std::vector<StoredBeside>& beside) const;

 private:
  std::optional<RowResult> result_;
  Halide::Func func_;
};

/// What attention stores of its rows.
struct StoredRows {
  explicit StoredRows(const OnlineSoftmax& body)
      : log_sum_exp("log_sum_exp", body.log_sum_exp), maximum("row_maximum", body.row_maximum), total("row_total", body.row_total) {}

  StoredOfRows log_sum_exp, maximum, total;

  bool are_wanted() const { return log_sum_exp.is_wanted() || maximum.is_wanted() || total.is_wanted(); }
  /// The total, stored beside which are its log_sum_exp_of, relative to `reference`, and the greatest score, both in base e, or itself.
  Halide::Expr storing(const Halide::Expr& of_row, const Halide::Expr& reference, const Halide::Expr& greatest, const Coordinates& row) const;
  std::vector<StoredBeside> results() const;
};

/// What is stored of a row's number.
Halide::Expr finished(const RowResult& result, const Halide::Expr& value, const Coordinates& row);

/// The greatest score of a row with this total: minus infinity where nothing is visible, NaN where a visible score is NaN.
Halide::Expr row_maximum_of(const Halide::Expr& greatest, const Halide::Expr& total);

}  // namespace attune
