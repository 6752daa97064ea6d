/* A shared file whose table says that it is of a later version. */
#include <stddef.h>

#include "runtime/abi.h"

const struct attune_library_v1 attune_library_v1 = {ATTUNE_ABI_VERSION + 1, 0, NULL, {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
