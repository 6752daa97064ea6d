#include <Halide.h>
#include "runtime/missing.h"
