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
#include "tools/attune/mask_pictures.h"
#include "tools/attune/mlir_text.h"
#include "tools/attune/options.h"

namespace attune {
namespace {

struct ShowOptions : Options {
  std::string stage = "graph", size = "large";
  bool is_signature = false, is_json = false, is_mask = false;
  std::string shape, places, picture;  // of masks
  std::vector<std::string> inputs;
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
  if (options.is_mask && (options.is_signature || options.stage != "graph")) return fmt::format("--mask: is shown instead of {}; one of them is right", options.is_signature ? "--signature" : "--stage " + options.stage);
  const std::pair<bool, const char*> of_masks[] = {
      {!options.shape.empty(), "--shape"}, {!options.places.empty(), "--at"}, {!options.picture.empty(), "--out"}, {!options.inputs.empty(), "--in"}};
  for (const auto& [is_given, option] : of_masks)
    if (is_given && !options.is_mask) return fmt::format("{}: is for the mask; --mask shows it", option);
  if (options.is_json && !options.is_signature) return "--json: is for the signature; --signature --json prints it";
  return {};
}

/// The masks of a call as text, and in a file if one is asked for.
int show_mask(const Prepared& prepared, const ShowOptions& options) {
  if (prepared.targets.size() > 1) return refuse(fmt::format("--target {}: --mask takes one target", options.targets));
  const FileInputs given = read_inputs(options.inputs);
  if (!given.problem.empty()) return refuse(given.problem);
  const KernelReport report = report_kernel(prepared, *prepared.targets[0]);
  if (!report.problem.empty()) return refuse(report.problem);
  const MaskedCall call = masked_call(prepared, report, options.shape, given);
  if (!call.problem.empty()) return refuse(call.problem);
  const MaskPictureAnswer answer = mask_picture(prepared, report, call, options.places);
  if (!answer.problem.empty()) return refuse(answer.problem);
  if (answer.picture.panels.empty()) {
    const std::string nothing = fmt::format("{}: has no mask: no predicate hides a key of a softmax", answer.picture.title);
    if (!options.picture.empty()) return refuse(fmt::format("--out {}: nothing is drawn: {}", options.picture, nothing));
    fmt::print("{}\n", nothing);
    return 0;
  }
  fmt::print("{}", text_of(answer.picture));
  if (options.picture.empty()) return 0;
  const Result<void> drawn = draw(answer.picture, options.picture, "--out");
  return drawn ? 0 : refuse(drawn.error().message);
}

int show(const ShowOptions& options) {
  if (const std::string problem = problem_of(options); !problem.empty()) return refuse(problem);
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  if (options.is_mask) return show_mask(prepared, options);
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
  command.flag("--mask", options->is_mask, "Draw which query sees which key, and the blocks that the kernel visits, instead");
  command.text("--shape", options->shape, "Of the mask: DIM=EXTENT,..., of the call that is drawn");
  command.texts("--in", options->inputs, "Of the mask: NAME=FILE.npy, an input that it depends on; others are random, as in attune check");
  command.text("--at", options->places, "Of the mask: DIM=INDEX,... of the other dims, else the first; `all` draws each mask that looks different");
  command.text("--out", options->picture, "Of the mask: FILE.png, drawn as well");
  command.footer(
      "Text of a mask is at most 80 columns wide: a character stands for one pair, or of a larger mask for a rectangle of pairs, which a line\n"
      "says; a pixel of the picture for a square of them beyond 1024.\n"
      "Examples:\n"
      "  attune show causal --signature --json\n"
      "  attune show sliding_window --param window=40 --mask --shape queries=129,keys=129 --out mask.png\n"
      "  attune show sliding_window --param window=512 --stage stages --set depth=64\n"
      "  attune show causal --stage assembly --target x86-64-v3");
  command.action([options] { return show(*options); });
}

}  // namespace attune
