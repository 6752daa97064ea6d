#include "schedules/pointwise/pointwise.h"

#include "schedules/common/placed_rows.h"
#include "schedules/pointwise/chosen_rows.h"
#include "schedules/pointwise/reduced_rows.h"
#include "schedules/pointwise/tasks.h"
#include "schedules/pointwise/turned_rows.h"
#include "schedules/pointwise/walked_rows.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

namespace attune {

std::vector<Parameter> pointwise_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("pointwise", machine, size, {{"task_elements", {1024, 4096, 16384, 65536}}});
}

namespace {

/// Rows that are written in place: a task takes as many of them as it has elements.
Stored written_rows(const Pointwise& body, const Extents& extents, const Machine& machine, int task_elements) {
  PlacedRows written = placed_rows(body, extents);
  Halide::Stage stage = written.func.update();
  const std::vector<Halide::RVar>& loops = written.loops;
  const int lanes = machine.vector_bytes / 4;
  const Expr length = extents.at(written.dims.back());
  Halide::RVar vectors("vectors-"), lane("lane-"), task("task-"), rows("rows-");
  stage.split(loops[0], vectors, lane, lanes, TailStrategy::GuardWithIf).vectorize(lane);
  if (loops.size() == 1) return {written.func, body.out};
  Halide::RVar all = loops[1];
  for (std::size_t n = 2; n < loops.size(); ++n) {
    Halide::RVar both;
    stage.fuse(all, loops[n], both);
    all = both;
  }
  stage.split(all, task, rows, Halide::max(task_elements / Halide::max(length, 1), 1), TailStrategy::GuardWithIf).parallel(task);
  return {written.func, body.out};
}

/// Elements that are made of sums, one after the other; a task takes as many as have so many terms.
Stored reduced_rows(const ReducedRows& rows, const std::vector<std::string>& out, int task_elements) {
  Func result("pointwise");
  const std::vector<Var> vars(out.rbegin(), out.rend());
  result(vars) = rows.element();
  result.compute_root();
  if (vars.empty()) {
    rows.schedule(Halide::LoopLevel::root());
    return {result, out};
  }
  rows.schedule({result, in_tasks(result, vars[0], vars, task_elements, {rows.terms()})});
  return {result, out};
}

}  // namespace

Stored pointwise(const Pointwise& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  if (body.places) return written_rows(body, extents, machine, static_cast<int>(value_of(values, "task_elements")));
  const int lanes = machine.vector_bytes / 4, task_elements = static_cast<int>(value_of(values, "task_elements"));
  if (body.walk) return walked_rows(body, extents, lanes, task_elements);
  if (body.choice) return chosen_rows(body, extents, lanes, task_elements);
  const Expr element = body.x.at(vars_at(body.out));
  if (const ReducedRows rows(element, body.out.empty() ? std::string() : body.out.back(), lanes); !rows.empty())
    return reduced_rows(rows, body.out, task_elements);
  if (const std::optional<std::string> along = turned_dim(body)) return turned_rows(body, extents, *along, task_elements);
  Func result("pointwise");
  const std::vector<Var> vars(body.out.rbegin(), body.out.rend());
  result(vars) = element;
  result.compute_root();
  if (vars.empty()) return {result, body.out};

  const Expr length = extents.at(body.out.back());
  for (const std::string& dim : body.out) result.bound(Var(dim), 0, extents.at(dim));
  // No dim's name has a hyphen: a loop of the name of one that is still there would be taken for it.
  Var part("part-"), vector("vector-"), vectors("vectors-"), lane("lane-");
  const auto schedule = [&](Halide::Stage stage, TailStrategy tail) {
    stage.split(vars[0], vectors, lane, lanes, tail).split(vectors, part, vector, task_elements / lanes, TailStrategy::GuardWithIf);
    in_tasks(stage, part, vars, task_elements, {length});
    stage.vectorize(lane);
  };
  // The last vector of a row is moved back over the one before it; rows shorter than a vector have none.
  if (!body.adds_up) schedule(result.specialize(length >= lanes), TailStrategy::ShiftInwards);
  schedule(result, TailStrategy::GuardWithIf);
  return {result, body.out};
}

}  // namespace attune
