/// Halide's lowering of a pipeline, as a line of its passes that is Attune's.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace attune {

/// What Halide::Pipeline::compile_to_module gives, in less time: the same passes in the same order, but for those of features that no stage uses
/// (memoization, tracing, profiling, dumps, Hexagon). Two things are taken out:
/// - Around the first simplification, definitions that nothing reads. Bounds inference writes at each loop the bounds of every function inside,
///   nearly all of them for no one; Halide 21 carries them to its second simplification, nine of ten statements by then.
/// - For CPUs, before the pipeline's own late passes, Halide's checks of arguments and of bounds: the runtime has checked arguments, and buffers
///   without elements are legal. (Until then the simplifier knows by them that no extent is negative.) Those that code generation makes stay:
///   that the allocator gave memory, and that no iteration of a parallel loop failed; a failed one ends the call with its error code and gives
///   back what the call holds. (With Halide's feature NoAsserts nothing is checked, and an allocator without memory is a store to address 0.)
/// And functions that store_beside knows are computed also where no other result reads them.
/// `symbol` names the function, which takes void** arguments as SYMBOL_argv. Throws Halide::Error.
Halide::Module module_through_passes(Halide::Pipeline pipeline, const std::vector<Halide::Argument>& arguments, const std::string& symbol,
                                     const Halide::Target& target);

/// `s` without definitions (`let`) of statements that nothing reads. Those of `*.loop_min`, `*.loop_max` and `*.loop_extent` stay: Halide's passes
/// make variables of these names when they need them.
Halide::Internal::Stmt without_unread(const Halide::Internal::Stmt& s);

}  // namespace attune
