/// Values that need a costly way for rare operands: vectors take it only where one of their lanes needs it.
#pragma once

#include <Halide.h>

namespace attune {

/// `rarely` where is_rare, else `mostly`. `rarely` must be right in any case, `mostly` (a Float(32)) where is_rare is false and FMAs are
/// made of products and sums. Without branch_on_rare_lanes or take_rare_way it is right, but a vector is computed lane by lane.
Halide::Expr where_rare(const Halide::Expr& is_rare, const Halide::Expr& rarely, const Halide::Expr& mostly);

/// What is computed with where_rare becomes
///     if any lane is_rare: all of it with `rarely` in every lane, else: all of it with `mostly`.
/// To be a late step of the lowering of pipelines for CPUs: lanes are vectors then.
void branch_on_rare_lanes(Halide::Pipeline& pipeline);

/// Takes `rarely` everywhere: compilers for devices do not promise to make FMAs. To be a late step of the lowering for devices.
void take_rare_way(Halide::Pipeline& pipeline);

}  // namespace attune
