#include "schedules/pointwise/turned_rows.h"

#include <algorithm>
#include <map>
#include <vector>

#include "codegen/halide/numbers/load.h"
#include "schedules/common/tiles.h"
#include "schedules/common/turned_squares.h"
#include "schedules/pointwise/tasks.h"

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

namespace attune {
namespace {

constexpr int edge = 8;
/// Squares side by side along the lines of memory: two take all of a line.
constexpr int squares_of_line = 2;

/// The reads of memory under the element, also those of the reductions that it is made of, whose calls are none.
std::vector<Expr> reads_under(const Expr& element) {
  std::vector<Expr> reads;
  for (const Halide::Internal::Call* read : reads_of(element)) {
    if (!read->func.defined() || !Halide::Internal::Function(read->func).has_update_definition()) {
      reads.emplace_back(read);
      continue;
    }
    const Halide::Internal::Function function(read->func);
    std::map<std::string, Expr> place;
    for (std::size_t n = 0; n < read->args.size(); ++n) place[function.args()[n]] = read->args[n];
    for (const Halide::Internal::Definition& update : function.updates())
      for (const Expr& value : update.values())
        for (const Halide::Internal::Call* of_term : reads_of(value))
          if (of_term->name != function.name())
            for (const Expr& term : reads_under(Expr(of_term))) reads.push_back(Halide::Internal::substitute(place, term));
  }
  return reads;
}

}  // namespace

std::optional<std::string> turned_dim(const Pointwise& body) {
  if (body.out.size() < 2) return {};
  const Expr element = body.x.at(vars_at(body.out));
  if (element.type().bits() != 32) return {};
  std::optional<std::string> along;
  for (const Expr& of_memory : reads_under(element)) {
    const auto* read = of_memory.as<Halide::Internal::Call>();
    const auto* innermost = read->args.empty() ? nullptr : read->args[0].as<Halide::Internal::Variable>();
    if (innermost == nullptr) continue;
    if (innermost->name == body.out.back()) return {};
    const bool is_across = Halide::Internal::expr_uses_var(read, body.out.back()) && std::ranges::find(body.out, innermost->name) != body.out.end();
    if (!along && is_across) along = innermost->name;
  }
  return along;
}

Stored turned_rows(const Pointwise& body, const Extents& extents, const std::string& along, int task_elements) {
  const std::string& inner = body.out.back();
  const Expr length = extents.at(inner);
  Coordinates at = vars_at(body.out);
  at[inner] = clamped(at[inner], length, false);
  at[along] = clamped(at[along], extents.at(along), true);
  const std::vector<Var> vars(body.out.rbegin(), body.out.rend());
  TurnedSquares squares(edge, Var(along), Var(inner), std::vector<Expr>(vars.begin(), vars.end()), body.x.at(at));
  Func result("pointwise");
  result(vars) = squares.element();
  result.compute_root();
  for (const std::string& dim : body.out) result.bound(Var(dim), 0, extents.at(dim));
  const Var columns("columns-"), column("column-"), lines("lines-"), square("square-"), row("row-");
  result.split(Var(inner), columns, column, edge, TailStrategy::GuardWithIf);
  result.split(Var(along), lines, row, edge * squares_of_line, TailStrategy::GuardWithIf).split(row, square, row, edge);
  std::vector<Var> in_all{lines};
  for (const Var& var : vars)
    if (var.name() != inner && var.name() != along) in_all.push_back(var);
  std::vector<Halide::VarOrRVar> order{column, row, square, columns};
  order.insert(order.end(), in_all.begin(), in_all.end());
  result.reorder(order).vectorize(column).unroll(row);
  in_tasks(result, lines, in_all, task_elements, {length, edge * squares_of_line});
  squares.schedule(result, square);
  return {result, body.out};
}

}  // namespace attune
