/// The number of threads on which parallel loops of kernels run: one pool for the whole program.
#pragma once

#include "runtime/result.h"

namespace attune {

/// Threads a call uses at most, its caller included. At first the environment's HL_NUM_THREADS, if that is a number from 1 up, otherwise the number of CPUs that
/// this process may run on.
int num_threads();

/// Sets it for the calls that follow: 1 to 256. Calls that run keep what they have.
Result<void> set_num_threads(int count);

}  // namespace attune
