/// The registers of AMX's tiles, which a process has to ask for.
#pragma once

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace attune {

/// Whether Linux gives this process the registers of tiles, 8 kB for each thread that uses them: it is asked once, and may refuse, as it does where
/// a thread's stack for signals is too small to save them (Documentation/arch/x86/xstate.rst). False on CPUs without them.
inline bool is_given_tiles() {
#if defined(__x86_64__)
  constexpr long request_permission = 0x1023, tile_data = 18;
  static const bool is_given = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return is_given;
#else
  return false;
#endif
}

}  // namespace attune
