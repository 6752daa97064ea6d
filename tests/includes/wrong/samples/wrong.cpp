#include "codegen/lower.h"
