/// From a graph to a module of the dialect `attn` and back; from text to a module.
/// A module holds one function: arguments are the inputs in order (attribute attn.name), the end is attn.return. Passes
/// that remove operations keep the formulas of derived dims in the attribute attn.dims.
#pragma once

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/dialect/dialect.h"
#include "codegen/dialect/extents.h"
#include "dsl/graph.h"

namespace attune {

/// Loads what modules are made of.
void load_dialects(mlir::MLIRContext& context);

/// The module of a graph without problems; `name` is the function's, `parameters` the fields of the variant
/// (encode_fields(variant, &context), or null). Dims of fixed extent have it in every type.
mlir::OwningOpRef<mlir::ModuleOp> import_graph(const Graph& graph, std::string_view name, mlir::DictionaryAttr parameters,
                                               mlir::MLIRContext& context);

/// The module that the text says, or the problem in a sentence with the place in the text. `source` names the text in it.
struct ParsedModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string problem;
};
ParsedModule parse_module(std::string_view text, std::string_view source, mlir::MLIRContext& context);

/// Empty, or what keeps the function from being a graph; the other functions here and the passes want it empty.
std::string graph_problem(mlir::func::FuncOp function);

/// The one function of a module that import_graph or parse_module made.
mlir::func::FuncOp function_of(mlir::ModuleOp module);

/// The graph that a function holds; stages are taken apart, extents that types state are fixed dims. What no graph can be
/// is its problem(). Names live as long as the context.
Graph to_graph(mlir::func::FuncOp function);
/// The value of each node of `graph`, which is to_graph(function) of a function without stages.
std::vector<mlir::Value> values_of(const Graph& graph, mlir::func::FuncOp function);
/// The graph of a stage's body: inputs "a0", "a1"..., outputs "r0", "r1"... It is not finished: dims may get their extents
/// from the rest of the function.
Graph to_graph(StageOp stage);
/// Every dim of the function, each after those that its extent follows from.
std::vector<DimInfo> dims_of(mlir::func::FuncOp function);
/// The problem of a graph without the line of C++, or nothing.
std::string problem_of(const Graph& graph);

/// The operation of the language that an MLIR operation is, with its fields; nothing for any other.
std::optional<AnyOp> op_of(mlir::Operation* operation);

/// The type of the result of `op` for operands of these types, or the sentence of its rule.
Checked check_operation(const AnyOp& op, std::span<const Type> operands);

/// The MLIR operation of `op`. The caller has checked that `result` is what check_operation gives: MLIR aborts otherwise.
mlir::Operation* create_operation(const AnyOp& op, mlir::ValueRange operands, TensorType result, mlir::OpBuilder& builder,
                                  mlir::Location at);

/// Adds the nodes of `graph` at the builder, its inputs being `inputs` in order; gives the value of each node.
/// Reals that are computed have the element `reals`.
llvm::SmallVector<mlir::Value> import_nodes(const Graph& graph, mlir::ValueRange inputs, const KnownExtents& known, Element reals,
                                            mlir::OpBuilder& builder, mlir::Location at);

}  // namespace attune
