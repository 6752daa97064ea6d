#include <fmt/format.h>

#include <memory>

#include "tools/attune/call_shapes.h"
#include "tools/attune/commands.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"

namespace attune {
namespace {

struct CheckOptions : Options {
  std::string shape, device;
  std::uint64_t seed = 1;
};

/// The calls to make: the one that is asked for, or those that reach each code of the kernel on the target. The problem in words.
struct Calls {
  std::vector<CallShape> shapes;
  std::string note, problem;
};
Calls calls_of(const Prepared& prepared, const Shape& asked, const TargetInfo& target) {
  const KernelReport report = report_kernel(prepared, target);
  if (!report.problem.empty()) return {{}, {}, report.problem};
  if (!asked.empty()) return {{call_shape(report, asked)}, {}, {}};
  CallShapes found = shapes_of_codes(prepared, report, target);
  Calls calls{std::move(found.shapes), {}, {}};
  for (const CallShape& shape : calls.shapes)
    if (calls.problem.empty()) calls.problem = memory_problem(prepared.graph.graph, shape.extents, compared);
  for (const auto& [stage, size] : found.missed)
    calls.note += fmt::format("note: no extents were found for which stage {} takes its schedule '{}'; --shape can give some\n", stage + 1, name_of(size));
  return calls;
}

/// Makes the call and prints the verdict. Empty, or why nothing can be said.
std::string make_call(const CallShape& shape, const Prepared& prepared, const Kernel& kernel, std::uint64_t seed, bool& agrees) {
  const Graph& graph = prepared.graph.graph;
  Trial trial = trial_of(kernel, shape.extents, random_inputs(graph, shape.extents, seed));
  trial.products = rounded_products(prepared.staging.specialisation);
  if (const Result<void> called = trial.call(kernel); !called) return called.error().message;
  const TrialVerdict verdict = trial.compare_with_interpreter(graph);
  const std::string which = fmt::format("{} of {}", shape.schedules, shape_text(graph, shape.extents));
  if (!verdict.problem.empty()) return fmt::format("{}: {}", which, verdict.problem);
  const std::string place = kernel.device() == nullptr ? std::string() : fmt::format(" on {} ({})", kernel.device()->text(), kernel.device()->name());
  fmt::print("variant '{}', target '{}'{}, {}: {}; seed {}\n", prepared.graph.name, kernel.usable_targets().front().name, place, which, verdict.text, seed);
  std::fflush(stdout);
  agrees &= verdict.agrees;
  return {};
}

int check(const CheckOptions& options) {
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  const FilledShape filled = fill_shape(prepared, options.shape);
  if (!filled.problem.empty()) return refuse(filled.problem);
  const Shape asked = options.shape.empty() ? Shape{} : filled.extents;
  if (const std::string problem = memory_problem(prepared.graph.graph, asked, compared); !asked.empty() && !problem.empty()) return refuse(problem);
  const OpenKernel open = open_kernel(prepared, {.device = options.device, .calls = asked.empty() ? std::vector<Shape>{} : std::vector{asked}});
  if (!open.problem.empty()) return refuse(open.problem);
  const Calls calls = calls_of(prepared, asked, *find_target(open.kernel->usable_targets().front().name));
  if (!calls.problem.empty()) return refuse(calls.problem);
  bool agrees = true;
  for (const CallShape& shape : calls.shapes)
    if (const std::string problem = make_call(shape, prepared, *open.kernel, options.seed, agrees); !problem.empty()) return refuse(problem);
  fmt::print("{}", calls.note);
  return agrees ? 0 : check_failed;
}

}  // namespace

void add_check(Program& program) {
  auto options = std::make_shared<CheckOptions>();
  const Command command = program.command("check", "Compare a kernel with the interpreter on random inputs; exit status 1 if they differ");
  add_graph_options(command, *options);
  command.text("--shape", options->shape, "DIM=EXTENT,...: what is not given has an odd default. Without it: calls that reach each code of the kernel");
  command.number("--seed", options->seed, "Of the random inputs: normal numbers, smaller where they would saturate a softmax or the like");
  add_device_option(command, options->device);
  command.footer(
      "Examples:\n"
      "  attune check causal --shape batch=2,heads=3,queries=37,keys=53,depth=64\n"
      "  attune check my_attention.h --struct MyAttention --type bf16");
  command.action([options] { return check(*options); });
}

}  // namespace attune
