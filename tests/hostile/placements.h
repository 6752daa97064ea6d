/// A kernel called with the same inputs placed in every way: between guard pages, in every layout, on several threads, in memory that held
/// other things.
#pragma once

#include <functional>

#include "dsl/graph.h"
#include "tests/hostile/guarded_call.h"
#include "tests/hostile/watched.h"

namespace attune {

/// Gives the kernel's scratch memory to guard_scratch(), and back to the runtime: a call with a workspace takes its memory there.
struct ScratchSwitch {
  std::function<void()> guard, unguard;
};

/// Calls the kernel in every way that How can say, and with the inputs spread along their outermost dims. Every element of every output
/// must be the same in all of them, bit by bit, and agree with the interpreter of the graph, if there is one. Faults end the process: this
/// belongs into watched().
Found call_in_every_placement(const Kernel& kernel, const Graph* graph, const Shape& extents, const Arrays& inputs,
                              const ScratchSwitch& scratch);

}  // namespace attune
