/// Lets a test case say that it cannot run on this machine: `if (ptxas.empty()) return skip("there is no ptxas");`
#pragma once

#include <string_view>

namespace attune {

/// Prints the reason and counts the current test case as skipped: if nothing fails, the program's exit status is 77.
void skip(std::string_view reason);

/// Whether this build is for the address or the thread sanitizer: it takes longer,
/// and neither emulators nor programs without the sanitizer can run it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace attune
