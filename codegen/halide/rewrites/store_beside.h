/// A second result of a pipeline that is stored where something else is computed: one number for each row, in the middle of another Func's loops.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace attune {

/// A Func over dims, innermost first, that stores nothing itself: `storing` gives it its elements.
Halide::Func stored_elsewhere(const std::string& name, const Halide::Type& type, const std::vector<Halide::Var>& dims);

/// `value`, and where it is computed `element` is stored at `place`, an element of a stored_elsewhere Func. Of a Func that is stored and computed
/// once a row: every store of it has one beside it. Rows that are computed several times are stored as often.
Halide::Expr storing(const Halide::Expr& value, const Halide::Expr& element, const Halide::FuncRef& place);

/// `element`, which is stored at `place`, an element of a Func that is computed before, over what stands there: in an update of a Func whose own
/// elements nothing reads and none is stored of. So loops carry a state on, of which Halide sees the first values alone. What is to read the state
/// behind such an update has to call its Func, too (`behind`).
Halide::Expr storing_over(const Halide::Expr& element, const Halide::FuncRef& place);

/// `value`, evaluated behind what the Func of `call` stores.
Halide::Expr behind(const Halide::Expr& call, const Halide::Expr& value);

/// Whether computing the function stores an element of another.
bool stores_beside(const Halide::Internal::Function& function);

/// A late step of the lowering of a pipeline whose results are stored in this way.
void store_beside(Halide::Pipeline& pipeline);

}  // namespace attune
