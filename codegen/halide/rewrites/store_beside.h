/// A second result of a pipeline that is stored where something else is computed: one number for each row, in the middle of another Func's loops.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace attune {

/// A Func over dims, innermost first, that stores nothing itself: `storing` gives it its elements.
Halide::Func stored_elsewhere(const std::string& name, const Halide::Type& type, const std::vector<Halide::Var>& dims);

/// `value`, and where it is computed `element` is stored at `place`, an element of a stored_elsewhere Func. Of a Func that is stored and computed once a
/// row: every store of it has one beside it. Rows that are computed several times are stored as often.
Halide::Expr storing(const Halide::Expr& value, const Halide::Expr& element, const Halide::FuncRef& place);

/// Whether computing the function stores an element of another.
bool stores_beside(const Halide::Internal::Function& function);

/// A late step of the lowering of a pipeline whose results are stored in this way.
void store_beside(Halide::Pipeline& pipeline);

}  // namespace attune
