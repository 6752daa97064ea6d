#include "codegen/compile.h"

#include "codegen/import.h"
#include "codegen/passes/canonicalise.h"
#include "codegen/passes/expand.h"
#include "codegen/passes/form_stages.h"
#include "codegen/passes/specialise.h"

namespace attune {
namespace {

/// "window=512,causal=true" as a dictionary of strings.
mlir::DictionaryAttr dictionary(std::string_view parameters, mlir::MLIRContext& context) {
  llvm::SmallVector<mlir::NamedAttribute> entries;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(parameters).split(parts, ',', -1, false);
  for (const llvm::StringRef part : parts) {
    const auto [name, value] = part.split('=');
    entries.emplace_back(mlir::StringAttr::get(&context, name), mlir::StringAttr::get(&context, value));
  }
  return mlir::DictionaryAttr::get(&context, entries);
}

}  // namespace

StagedModule compile_to_stages(const Graph& graph, std::string_view name, std::string_view parameters, const StageOptions& options,
                               mlir::MLIRContext& context, Until until) {
  load_dialects(context);
  StagedModule staged{import_graph(graph, name, dictionary(parameters, context), context), {}};
  if (until == Until::imported) return staged;
  staged.problem = specialise(*staged.module, options.specialisation);
  if (!staged.problem.empty()) return staged;
  expand(*staged.module);
  canonicalise(*staged.module);
  staged.problem = form_stages(*staged.module, options.fuse);
  return staged;
}

}  // namespace attune
