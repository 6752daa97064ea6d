/// The instructions that prefetch a cache line.
#pragma once

#include <Halide.h>

namespace attune {

/// Where a prefetched line goes: into the first-level cache alone (on x86-64 `prefetchnta`), or into the second-level cache (`prefetcht1`), which
/// waits for more of them at once. The numbers are those of schedules' parameter `prefetch`.
enum class PrefetchInto { nowhere = 0, first_level = 1, second_level = 2 };

/// Returns an i32 that is 0. Evaluating it prefetches the line of the element of this type that lies `offset` elements behind the handle `base`,
/// wherever that is. Not for nowhere.
Halide::Expr prefetch_line(PrefetchInto cache, const Halide::Type& type, const Halide::Expr& base, const Halide::Expr& offset);

}  // namespace attune
