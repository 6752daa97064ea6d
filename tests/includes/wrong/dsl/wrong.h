#include <vector>
#include <fmt/core.h>
#include "runtime/wrong.h"
