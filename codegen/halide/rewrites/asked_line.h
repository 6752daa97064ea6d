/// The instructions that ask for a cache line.
#pragma once

#include <Halide.h>

namespace attune {

/// Where a line that is asked for goes: into the first-level cache alone (on x86-64 `prefetchnta`), or into the second-level cache (`prefetcht1`), which
/// waits for more of them at once. The numbers are those of schedules' parameter `prefetch`.
enum class AskedInto { nowhere = 0, first_level = 1, second_level = 2 };

/// An i32 that is 0; where it is evaluated, the line of an element of this type is asked for that lies `offset` elements behind the handle `base`,
/// wherever that is. Not for nowhere.
Halide::Expr asked_line(AskedInto cache, const Halide::Type& type, const Halide::Expr& base, const Halide::Expr& offset);

}  // namespace attune
