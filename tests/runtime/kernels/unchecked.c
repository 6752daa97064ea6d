/* A shared file without a trailer: it leaves a trace in the environment if anything of it runs. */
#include <stdlib.h>

__attribute__((constructor)) static void leave_a_trace(void) { setenv("ATTUNE_UNCHECKED_FILE_RAN", "1", 1); }
