#include "schedules/pointwise/tasks.h"

#include "schedules/common/tiles.h"

using Halide::Expr;
using Halide::Var;

namespace attune {

Var in_tasks(Halide::Stage stage, Var all, const std::vector<Var>& vars, int task_elements, const std::vector<Expr>& lengths) {
  const Var task("task-"), rows("rows-");
  for (std::size_t n = 1; n < vars.size(); ++n) {
    const Var both;
    stage.fuse(all, vars[n], both);
    all = both;
  }
  stage.split(all, task, rows, pieces_of(task_elements, lengths), Halide::TailStrategy::GuardWithIf).parallel(task);
  return rows;
}

}  // namespace attune
