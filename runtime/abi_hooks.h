/* What the runtime asks of Halide's runtime inside a shared file: a part of abi.h. */
#ifndef ATTUNE_RUNTIME_ABI_HOOKS_H
#define ATTUNE_RUNTIME_ABI_HOOKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct halide_device_interface_t; /* of HalideRuntime.h */

/* What the opening program asks of the Halide runtime inside a shared file. Setters give the function before: the program puts its own pool,
   allocator, contexts and queues of devices there. Functions of devices that the file holds no code for are null. */
struct attune_hooks_v2 {
  void* (*set_do_par_for)(void*);
  void* (*set_malloc)(void*);
  void* (*set_free)(void*);
  void* (*set_error_handler)(void*);
  void* (*set_cuda_context)(void*); /* int (void* user_context, void** context, bool is_to_be_made) */
  void* (*set_cuda_stream)(void*);  /* int (void* user_context, void* context, void** stream) */
  const struct halide_device_interface_t* (*cuda_interface)(void);
  void* (*set_opencl_context)(void*); /* int (void* user_context, void** context, void** queue, bool is_to_be_made) */
  const struct halide_device_interface_t* (*opencl_interface)(void);
};

#ifdef __cplusplus
}
#endif
#endif
