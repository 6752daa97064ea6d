/// Text of MLIR: the parser, the graph in it, and the passes, as `attune` and as `attune-opt` run them.
#include <mlir/IR/Verifier.h>

#include "codegen/dialect/import.h"
#include "codegen/passes/canonicalise.h"
#include "codegen/passes/compile.h"
#include "codegen/passes/expand.h"
#include "codegen/passes/form_stages.h"
#include "codegen/passes/specialise.h"
#include "tests/hostile/fuzz_sentence.h"
#include "tools/attune/graph_source.h"

namespace attune {
namespace {

/// On the module itself, whatever was done to it before.
void run_passes(std::string_view text, int which) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const ParsedModule parsed = parse_module(text, "input", context);
  require_sentence(parsed.problem);
  if (!parsed.module) return;
  Specialisation given;
  require_sentence(which == 0 ? specialise(*parsed.module, given) : std::string());
  if (which <= 1) expand(*parsed.module);
  if (which <= 2) canonicalise(*parsed.module);
  const std::string problem = form_stages(*parsed.module, which != 3);
  require_sentence(problem);
  if (problem.empty() && mlir::failed(mlir::verify(*parsed.module))) std::abort();
}

}  // namespace
}  // namespace attune

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int which = 0; which < 4; ++which) run_passes(text, which);
  const LoadedGraph loaded = graph_from_text(text, "input", "function");
  require_sentence(loaded.problem);
  if (!loaded.problem.empty()) return 0;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const StagedModule staged = compile_to_stages(loaded.graph, loaded.name, loaded.parameters, {}, context);
  require_sentence(staged.problem);
  if (staged.problem.empty() && mlir::failed(mlir::verify(*staged.module))) std::abort();
  return 0;
}
