/// Expressions that share much, and conditions that are decided while a kernel is compiled.
#pragma once

#include <Halide.h>

namespace attune {

/// The expression; where its values share so much that Halide, which walks through each use of what is shared, would take long, with Lets for what is
/// used more than once.
Halide::Expr with_much_named(const Halide::Expr& e);

/// `condition` is true whatever its variables are, as far as Halide finds.
bool is_proved(const Halide::Expr& condition);

}  // namespace attune
