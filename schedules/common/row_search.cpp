#include "schedules/common/row_search.h"

using Halide::Expr;

namespace attune {

Exprs RowSearch::initial(const Expr& length) const { return {Halide::Internal::make_zero(elements_), 0, length}; }

Expr RowSearch::tried(const Exprs& known, const Expr& pass) const {
  return known[0] | (Halide::Internal::make_one(elements_) << Halide::cast(elements_, passes() - 1 - pass));
}

Exprs RowSearch::learned(const Exprs& known, const Expr& counted, const Expr& pass) const {
  const Expr has_bit = counted >= count_;
  return {Halide::select(has_bit, tried(known, pass), known[0]), Halide::select(has_bit, known[1], counted), Halide::select(has_bit, counted, known[2])};
}

std::vector<std::string> rows_of_choice(const Pointwise& body) {
  std::vector<std::string> dims = body.out;
  std::erase(dims, body.choice->result_dim());
  return dims;
}

}  // namespace attune
