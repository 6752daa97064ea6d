/// The compiler's table of contents: a graph becomes a module of stages, step by step.
#pragma once

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>

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

/// How far `compile_to_stages` goes: up to the module as the language says it, with what the options say of its tensors, or to stages.
enum class Until { imported, specialised, stages };

/// The module of a graph without problems. Its names are copies, which live as long as the context.
StagedModule compile_to_stages(const Graph& graph, std::string_view name, std::string_view parameters, const StageOptions& options,
                               mlir::MLIRContext& context, Until until = Until::stages);

}  // namespace attune
