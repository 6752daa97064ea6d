/// What every refusal is, whatever the input was.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace attune {

/// Ends the program unless the text is empty or one line that does not speak of Attune's insides.
inline void require_sentence(const std::string& problem) {
  if (problem.find('\n') == std::string::npos && problem.find("internal:") == std::string::npos) return;
  std::fprintf(stderr, "this is no sentence: %s\n", problem.c_str());
  std::abort();
}

}  // namespace attune
