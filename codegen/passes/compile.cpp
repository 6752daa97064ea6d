#include "codegen/passes/compile.h"

#include <fmt/format.h>

#include "codegen/dialect/identifier.h"
#include "codegen/dialect/import.h"
#include "codegen/passes/canonicalise.h"
#include "codegen/passes/expand.h"
#include "codegen/passes/form_stages.h"
#include "codegen/passes/joint_weights.h"
#include "codegen/passes/keep_weights.h"
#include "codegen/passes/one_query.h"
#include "codegen/passes/own_scores.h"
#include "codegen/passes/part_log_sum_exp.h"
#include "codegen/passes/specialise.h"

namespace attune {
namespace {

/// "window=512,causal=true" as a dictionary of strings; or what is wrong with it.
struct Parameters {
  mlir::DictionaryAttr dictionary;
  std::string problem;
};
Parameters dictionary_of(std::string_view text, mlir::MLIRContext& context) {
  llvm::SmallVector<mlir::NamedAttribute> entries;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',', -1, false);
  for (const llvm::StringRef part : parts) {
    const auto [name, value] = part.split('=');
    if (name.empty()) return {{}, fmt::format("parameters: '{}' has no name; NAME=VALUE is right", excerpt(part))};
    if (llvm::is_contained(llvm::map_range(entries, [](const mlir::NamedAttribute& e) { return e.getName().getValue(); }), name))
      return {{}, fmt::format("parameters: '{}' is there twice; every parameter has a name of its own", excerpt(name))};
    entries.emplace_back(mlir::StringAttr::get(&context, name), mlir::StringAttr::get(&context, value));
  }
  return {mlir::DictionaryAttr::get(&context, entries), {}};
}

}  // namespace

StagedModule compile_to_stages(const Graph& graph, std::string_view name, std::string_view parameters, const StageOptions& options,
                               mlir::MLIRContext& context, Until until) {
  load_dialects(context);
  Parameters said = dictionary_of(parameters, context);
  if (!said.problem.empty()) return {nullptr, std::move(said.problem)};
  StagedModule staged{import_graph(graph, name, said.dictionary, context), {}};
  if (until == Until::imported) return staged;
  staged.problem = specialise(*staged.module, options.specialisation);
  if (!staged.problem.empty() || until == Until::specialised) return staged;
  if (options.fuse) join_weights(*staged.module);
  expand(*staged.module);
  canonicalise(*staged.module);
  if (options.fuse) {
    one_query(*staged.module);
    own_scores(*staged.module);
    keep_weights(*staged.module);
  }
  part_log_sum_exp(*staged.module, options.fuse);
  staged.problem = form_stages(*staged.module, options.fuse);
  return staged;
}

}  // namespace attune
