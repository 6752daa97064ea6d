#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/attune/call_shapes.h"
#include "tools/attune/commands.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"

namespace attune {
namespace {

struct CheckOptions : Options {
  std::string shape;
  std::uint64_t seed = 1;
};

/// The calls to make: the one that is asked for, or one for each size of call that the kernel tells apart. The problem in words.
struct Calls {
  std::vector<CallShape> shapes;
  std::string note, problem;
};
Calls calls_of(const Prepared& prepared, const CheckOptions& options) {
  const auto fail = [](std::string problem) { return Calls{{}, {}, std::move(problem)}; };
  const FilledShape filled = fill_shape(prepared, options.shape);
  if (!filled.problem.empty()) return fail(filled.problem);
  const KernelReport report = report_kernel(prepared, *prepared.targets[0]);
  if (!report.problem.empty()) return fail(report.problem);
  Calls calls;
  if (!options.shape.empty()) calls.shapes.push_back(call_shape(report, filled.extents));
  else calls.shapes = shapes_of_sizes(prepared, report, *prepared.targets[0]);
  for (const CallShape& shape : calls.shapes)
    if (const std::string problem = memory_problem(prepared.graph.graph, shape.extents, true); !problem.empty()) return fail(problem);
  for (const SizeRule::Entry& entry : report.sizes.entries)
    if (options.shape.empty() && std::ranges::find(calls.shapes, entry.size, &CallShape::size) == calls.shapes.end())
      calls.note += fmt::format("note: no extents were found that take the schedules '{}'; --shape can give some\n", name_of(entry.size));
  return calls;
}

int check(const CheckOptions& options) {
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  const Calls calls = calls_of(prepared, options);
  if (!calls.problem.empty()) return refuse(calls.problem);
  const OpenKernel open = open_kernel(prepared);
  if (!open.problem.empty()) return refuse(open.problem);
  bool agrees = true;
  for (const CallShape& shape : calls.shapes) {
    Trial trial = trial_of(*open.kernel, shape.extents, random_inputs(prepared.graph.graph, shape.extents, options.seed));
    if (const Result<void> called = trial.call(*open.kernel); !called) return refuse(called.error().message);
    const TrialVerdict verdict = trial.compare_with_interpreter(prepared.graph.graph);
    const std::string calls_said = fmt::format("{} calls ({}) of {}", name_of(shape.size), shape.schedules, shape_text(prepared.graph.graph, shape.extents));
    if (!verdict.problem.empty()) return refuse(fmt::format("{}: {}", calls_said, verdict.problem));
    fmt::print("variant '{}', target '{}', {}: {}; seed {}\n", prepared.graph.name, prepared.targets[0]->name, calls_said, verdict.text, options.seed);
    std::fflush(stdout);
    agrees &= verdict.agrees;
  }
  fmt::print("{}", calls.note);
  return agrees ? 0 : check_failed;
}

}  // namespace

void add_check(Program& program) {
  auto options = std::make_shared<CheckOptions>();
  const Command command = program.command("check", "Compare a kernel with the interpreter on random inputs; exit status 1 if they differ");
  add_graph_options(command, *options);
  command.text("--shape", options->shape, "DIM=EXTENT,...: what is not given has an odd default. Without it: one call for each size of call that the kernel tells apart");
  command.number("--seed", options->seed, "Of the random inputs: normal numbers, smaller where they would saturate a softmax or the like");
  command.footer(
      "Examples:\n"
      "  attune check causal --shape batch=2,heads=3,queries=37,keys=53,depth=64\n"
      "  attune check my_attention.h --struct MyAttention --type bf16");
  command.action([options] { return check(*options); });
}

}  // namespace attune
