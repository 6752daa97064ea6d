#include <fmt/format.h>

#include <limits>
#include <memory>

#include "tools/attune/commands.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"

namespace attune {
namespace {

struct CheckOptions : Options {
  std::string shape;
  std::uint64_t seed = 1;
};

int check(const CheckOptions& options) {
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  const ShapeAnswer shape = parse_shape(options.shape, "--shape");
  if (!shape.problem.empty()) return refuse(shape.problem);
  const OpenKernel open = open_kernel(prepared);
  if (!open.problem.empty()) return refuse(open.problem);
  Trial trial = make_trial(prepared, *open.kernel, shape.extents, options.seed);
  if (!trial.problem.empty()) return refuse(trial.problem);
  if (const Result<void> called = trial.call(*open.kernel); !called) return refuse(called.error().message);
  const TrialVerdict verdict = trial.compare_with_interpreter(prepared.graph.graph);
  if (!verdict.problem.empty()) return refuse(verdict.problem);
  const std::string who = fmt::format("variant '{}', target '{}'", prepared.graph.name, prepared.targets[0]->name);
  fmt::print("{}: {}; seed {}\n", who, verdict.text, options.seed);
  return verdict.agrees ? 0 : check_failed;
}

}  // namespace

void add_check(Program& program) {
  auto options = std::make_shared<CheckOptions>();
  const Command command = program.command("check", "Compare a kernel with the interpreter on random inputs; exit status 1 if they differ");
  add_graph_options(command, *options);
  command.text("--shape", options->shape, "DIM=EXTENT,...: what is not given has an odd default; value_depth is depth");
  command.number("--seed", options->seed, "Of the random inputs");
  command.footer(
      "Examples:\n"
      "  attune check causal --shape batch=2,heads=3,queries=37,keys=53,depth=64\n"
      "  attune check my_attention.h --struct MyAttention --type bf16");
  command.action([options] { return check(*options); });
}

}  // namespace attune
