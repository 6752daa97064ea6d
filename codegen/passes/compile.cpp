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

template <void (*run)(mlir::ModuleOp)>
void of_module(mlir::ModuleOp module, bool) {
  run(module);
}

constexpr GraphPass passes[] = {
    {.name = "attn-joint-weights", .meaning = "a softmax over several dims is one over all of them merged", .run = of_module<joint_weights>},
    {.name = "attn-expand", .meaning = "replace composites by what they mean", .run = of_module<expand>, .is_of_fusion = false},
    {.name = "attn-canonicalise", .meaning = "one form for graphs that mean the same", .run = of_module<canonicalise>, .is_of_fusion = false},
    {.name = "attn-one-query", .meaning = "a dim of one query for attention that has none", .run = of_module<one_query>},
    {.name = "attn-own-scores", .meaning = "a product of its own for each stage that computes scores", .run = of_module<own_scores>},
    {.name = "attn-keep-weights", .meaning = "weights that are read beside their matmul, from what the softmax divides by", .run = of_module<keep_weights>},
    {.name = "attn-part-log-sum-exp",
     .meaning = "a log_sum_exp that no stage computes beside its weights, as a maximum and a sum",
     .run = part_log_sum_exp,
     .is_of_fusion = false},
};

}  // namespace

std::span<const GraphPass> graph_passes() { return passes; }

StagedModule compile_to_stages(const Graph& graph, std::string_view name, std::string_view parameters, const StageOptions& options,
                               mlir::MLIRContext& context, Until until) {
  load_dialects(context);
  Parameters said = dictionary_of(parameters, context);
  if (!said.problem.empty()) return {nullptr, std::move(said.problem)};
  StagedModule staged{import_graph(graph, name, said.dictionary, context), {}};
  if (until == Until::imported) return staged;
  staged.problem = specialise(*staged.module, options.specialisation);
  if (!staged.problem.empty() || until == Until::specialised) return staged;
  for (const GraphPass& pass : graph_passes())
    if (options.fuse || !pass.is_of_fusion) pass.run(*staged.module, options.fuse);
  staged.problem = form_stages(*staged.module, options.fuse);
  return staged;
}

}  // namespace attune
