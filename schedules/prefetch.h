/// Asking for memory before it is read.
#pragma once

#include <Halide.h>

namespace attune {

/// An i32 that is always 0; where it is evaluated, the cache lines of the inputs' elements that `element` loads are asked for
/// (Halide's `prefetch`: on x86-64 `prefetchnta`, into the first-level cache alone). The addresses may lie outside the inputs. Undefined if it loads none.
Halide::Expr prefetched(const Halide::Expr& element);

/// The same for an element that is loaded from one input, at a place that takes no other loads: it may be at any coordinates, beyond extents too.
/// Undefined for other elements.
Halide::Expr prefetched_anywhere(const Halide::Expr& element);

}  // namespace attune
