/// Lets a test case say that it cannot run on this machine: `if (ptxas.empty()) return skip("there is no ptxas");`
#pragma once

#include <string_view>

namespace attune {

/// Prints the reason and counts the current test case as skipped: if nothing fails, the program's exit status is 77.
void skip(std::string_view reason);

}  // namespace attune
