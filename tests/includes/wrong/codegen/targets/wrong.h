#include "codegen/output/emit.h"
