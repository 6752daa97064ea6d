/// What rewrite patterns of several passes share: operations of the language made in place of others, and which values are scores.
#pragma once

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

/// The value reaches a softmax through elementwise operations and concats alone.
bool is_score(mlir::Value value);

/// The graph that holds the operation may have one more dim.
bool has_room_for_dim(mlir::Operation* op);

/// A name that no dim of the function has: `stem`, or `stem` and a number. It lives as long as the context.
Name fresh_dim(mlir::func::FuncOp function, const std::string& stem);

}  // namespace attune
