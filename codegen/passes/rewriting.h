/// What rewrite patterns of several passes share: operations of the language made in place of others, and which values are scores.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <mlir/IR/PatternMatch.h>

#include <optional>

#include "codegen/dialect/import.h"

namespace attune {

/// `op` of the operands, of the type that its rule gives; computed reals have the element of `like`.
mlir::Value add_operation(const AnyOp& op, mlir::ValueRange operands, mlir::Operation* like, mlir::OpBuilder& builder);

/// The number that the value is everywhere; none if it is no constant.
std::optional<double> constant_of(mlir::Value value);

Names dims_of(mlir::Value value);

/// The operation is elementwise: an element of its result needs that of each operand alone.
bool is_elementwise(mlir::Operation* op);

/// The operation computes its elements in a loop, as products and softmaxes do.
bool has_loop(mlir::Operation* op);

/// What the value is made of by elementwise operations alone, itself first, each value once. Of what has not the dim nothing more is told; of all without one.
llvm::SetVector<mlir::Value> made_of(mlir::Value value, Name along = {});

/// A loop gives the value, or what it is made of, its elements along the dim: at other places along it, as `split` and `merge` read them, they are not
/// computed with what reads them, but stored. Softmax weights along their keys are such.
bool is_computed_along(mlir::Value value, Name dim);

/// The type after the operation; none if a rule of the language is against it.
std::optional<Type> type_after(const AnyOp& op, llvm::ArrayRef<Type> operands);

/// The product with `operand` in the place of operand `i`.
mlir::Value with_operand(GraphOp<Matmul> product, unsigned i, mlir::Value operand, mlir::OpBuilder& builder);

/// extent(dim) > 0; and whether a value is that.
mlir::Value has_positions(Name dim, mlir::Operation* like, mlir::OpBuilder& builder);
bool asks_for_positions(mlir::Value condition, Name dim);

/// The value reaches a softmax through elementwise operations, concats and merges alone.
bool is_score(mlir::Value value);

/// The graph that holds the operation may have one more dim.
bool has_room_for_dim(mlir::Operation* op);

/// A name that no dim of the function has: `stem`, or `stem` and a number. It lives as long as the context.
Name fresh_dim(mlir::func::FuncOp function, const std::string& stem);

}  // namespace attune
