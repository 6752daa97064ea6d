/// Loops of an elementwise stage as tasks.
#pragma once

#include <Halide.h>

#include <vector>

namespace attune {

/// The loop over rows, or over parts of rows, and those over all vars but the first as one, of which a task takes as many as have so many elements, where
/// an iteration has the product of `lengths`. Gives the loop over a task's.
Halide::Var in_tasks(Halide::Stage stage, Halide::Var all, const std::vector<Halide::Var>& vars, int task_elements, const std::vector<Halide::Expr>& lengths);

}  // namespace attune
