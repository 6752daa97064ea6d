/// Operations on bits that the simplifier does not look behind.
#pragma once

#include <Halide.h>

namespace attune {

/// `s` simplified, without removing lets, where `&`, `|` and `^` of integers say nothing of their results. The simplifier knows which bits these can
/// have, and would drop the clamps and promises that it can prove by them; the analysis of bounds behind it knows less, and would find that memory is
/// read anywhere.
Halide::Internal::Stmt simplified_around_bits(const Halide::Internal::Stmt& s);

}  // namespace attune
