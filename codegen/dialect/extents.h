/// What a function knows of its dims: the extents that its types state, and the formulas of the others.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <optional>
#include <string>
#include <vector>

#include "codegen/dialect/tensor_type.h"
#include "dsl/op.h"

namespace attune {

/// The extents that the types inside the function state.
KnownExtents known_extents(mlir::func::FuncOp function);

/// The formulas in attn.dims.
std::vector<Derivation> recorded_derivations(mlir::func::FuncOp function);
/// The formulas of the derived dims: first those of attn.dims, then those of the operations that attn.dims does not have and that do not follow from
/// the others (is_stated), also where two operations contradict each other.
std::vector<Derivation> derivations_of(mlir::func::FuncOp function);
/// Writes attn.dims: the formulas stay when the operations that said them are gone.
void record_derivations(mlir::func::FuncOp function, const std::vector<Derivation>& derivations);

/// The extent that the formula gives; nothing where an operand is not known, or is not a multiple of the divisor.
std::optional<std::int64_t> evaluate(const Derivation& derivation, const KnownExtents& known);

/// Empty, or a sentence: a dim with two extents, or with one that contradicts its formula.
std::string extent_problem(mlir::func::FuncOp function);

}  // namespace attune
