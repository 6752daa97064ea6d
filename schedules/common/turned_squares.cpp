#include "schedules/common/turned_squares.h"

#include "schedules/common/softmax_math.h"

using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace attune {
namespace {

bool is(const Expr& index, const Var& var) { return index.as<Halide::Internal::Variable>()->name == var.name(); }

std::vector<Var> vars(const std::vector<Expr>& place) {
  std::vector<Var> all;
  for (const Expr& index : place) all.emplace_back(index.as<Halide::Internal::Variable>()->name);
  return all;
}

}  // namespace

TurnedSquares::TurnedSquares(int edge, const Var& column, const Var& row, const std::vector<Expr>& place, const Expr& element)
    : edge_(edge), column_(column), row_(row) {
  for (const Expr& index : place)
    if (!is(index, column) && !is(index, row)) others_.push_back(index);
  loaded_(vars(joined({column_, row_}, others_))) = element;
  for (int turned = 1; turned < edge_; turned *= 2) {
    const auto before = [&](const Expr& at, const Expr& of_square) -> Expr {
      if (steps_.empty()) return loaded_(joined({column_square_ * edge_ + at, row_square_ * edge_ + of_square}, others_));
      return steps_.back()(joined({of_square % 2 * edge_ + at, of_square / 2, column_square_, row_square_}, others_));
    };
    Func step("turned");
    step(vars(joined({along_, pair_, column_square_, row_square_}, others_))) =
        select(along_ % 2 == 0, before(along_ / 2, pair_), before(along_ / 2, pair_ + edge_ / 2));
    steps_.push_back(step);
  }
}

Expr TurnedSquares::element() const {
  if (steps_.empty()) return loaded_(joined({column_, row_}, others_));
  const Expr column = column_ % edge_, row = row_ % edge_;
  return steps_.back()(joined({column % 2 * edge_ + row, column / 2, column_ / edge_, row_ / edge_}, others_));
}

void TurnedSquares::schedule(const Func& turned, const Var& square) const {
  Func(loaded_).compute_at(turned, square).bound_extent(column_, edge_).bound_extent(row_, edge_).vectorize(column_).unroll(row_);
  for (Func step : steps_) {
    const Var parity("parity-");
    step.compute_at(turned, square).bound_extent(along_, 2 * edge_).bound_extent(pair_, edge_ / 2);
    step.bound_extent(column_square_, 1).bound_extent(row_square_, 1);
    step.split(along_, along_, parity, 2).reorder(parity, along_, pair_).vectorize(along_).unroll(parity).unroll(pair_);
  }
}

}  // namespace attune
