/// The compiler's table of contents: a graph becomes a module of stages, step by step.
#pragma once

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>

#include <span>
#include <string>
#include <string_view>

#include "codegen/passes/stage_options.h"
#include "dsl/graph.h"

namespace attune {

/// A module and its function's stages, or the problem in words.
struct StagedModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string problem;
};

/// A pass between `specialise` and `form_stages`.
struct GraphPass {
  std::string_view name, meaning;  ///< attune-opt --NAME
  void (*run)(mlir::ModuleOp module, bool fuse);  ///< `fuse` as form_stages is given it
  bool is_of_fusion = true;  ///< left out where fusion is off
};

/// In the order in which a kernel takes them. The only list.
std::span<const GraphPass> graph_passes();

/// How far `compile_to_stages` goes: up to the module as the language says it, with what the options say of its tensors, or to stages.
enum class Until { imported, specialised, stages };

/// The module of a graph without problems. Its names are copies, which live as long as the context.
StagedModule compile_to_stages(const Graph& graph, std::string_view name, std::string_view parameters, const StageOptions& options,
                               mlir::MLIRContext& context, Until until = Until::stages);

}  // namespace attune
