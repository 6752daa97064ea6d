#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "codegen/dialect/import.h"
#include "codegen/output/code_generators.h"
#include "codegen/passes/compile.h"
#include "codegen/steps/steps.h"
#include "tools/attune/commands.h"
#include "tools/attune/graph_text.h"
#include "tools/attune/mlir_text.h"
#include "tools/attune/options.h"

namespace attune {
namespace {

struct ShowOptions : Options {
  std::string stage = "graph", size = "large";
  bool is_signature = false, is_json = false;
};

/// The code of each stage: its loops, or the machine's instructions. Code that several stages share is there once.
int show_code(const Prepared& prepared, mlir::func::FuncOp function, const ShowOptions& options) {
  const KernelSteps plan = kernel_steps(function);
  for (std::size_t number = 0; number < plan.steps.size(); ++number) {
    const Step& step = plan.steps[number];
    const CodeRequest request{plan, step, *prepared.targets[0], *find_size(options.size), prepared.schedule};
    if (std::ranges::find(plan.steps, step.identity, &Step::identity) - plan.steps.begin() != static_cast<std::ptrdiff_t>(number)) continue;
    const CodeForm form = options.stage == "loops" ? CodeForm::loops : CodeForm::assembly;
    const CodeAnswer code = code_of(request, fmt::format("attune_{}_{}", prepared.graph.name, number), form);
    if (!code.problem.empty()) return refuse(code.problem);
    fmt::print("{}", code.bytes);
  }
  return 0;
}

/// What is wrong with the options together.
std::string problem_of(const ShowOptions& options) {
  constexpr std::string_view stages[] = {"graph", "mlir", "stages", "loops", "assembly"};
  if (std::ranges::find(stages, options.stage) == std::end(stages))
    return fmt::format("--stage '{}': is not one of {}", options.stage, fmt::join(stages, ", "));
  if (std::string problem = size_problem(options.size); !problem.empty()) return problem;
  if (options.is_signature && options.stage != "graph") return fmt::format("--signature: is shown instead of --stage {}; one of them is right", options.stage);
  if (options.is_json && !options.is_signature) return "--json: is for the signature; --signature --json prints it";
  return {};
}

int show(const ShowOptions& options) {
  if (const std::string problem = problem_of(options); !problem.empty()) return refuse(problem);
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  if (options.is_signature) {
    fmt::print("{}", options.is_json ? signature_json(prepared.graph) : signature_text(prepared.graph));
    return 0;
  }
  if (options.stage == "graph") {
    fmt::print("{}", graph_text(prepared.graph.graph));
    return 0;
  }
  if (options.stage == "mlir" || options.stage == "stages") {
    const MlirText module = mlir_text(prepared, options.stage == "stages");
    if (!module.problem.empty()) return refuse(module.problem);
    fmt::print("{}\n", module.text);
    return 0;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const StagedModule staged = compile_to_stages(prepared.graph.graph, prepared.graph.name, prepared.graph.parameters, prepared.staging, context);
  if (!staged.problem.empty()) return refuse(staged.problem);
  return show_code(prepared, function_of(*staged.module), options);
}

}  // namespace

void add_show(Program& program) {
  auto options = std::make_shared<ShowOptions>();
  const Command command = program.command("show", "Print a graph on its way to a kernel");
  add_graph_options(command, *options);
  command.text("--stage", options->stage, "graph, mlir, stages, loops or assembly");
  command.text("--size", options->size, "Of loops and assembly: those for large or for small calls");
  command.flag("--signature", options->is_signature, "Print inputs, outputs and dims instead");
  command.flag("--json", options->is_json, "Print the signature as JSON");
  command.footer(
      "Examples:\n"
      "  attune show causal --signature --json\n"
      "  attune show sliding_window --param window=512 --stage stages --set depth=64\n"
      "  attune show causal --stage assembly --target x86-64-v3");
  command.action([options] { return show(*options); });
}

}  // namespace attune
