/// Calls that are wrong in one way, drawn at random.
#pragma once

#include <string>

#include "tests/hostile/prepared_call.h"

namespace attune {

struct Attempt {
  std::string what;  ///< "null data"
  bool is_refused = false;
  std::string sentence;
};

/// Spoils the call or what it is made with, and makes it.
Attempt call_wrongly_from_c(PreparedCall& call, const attune_kernel* kernel, Random& random);
Attempt call_wrongly_from_cpp(PreparedCall& call, const Kernel& kernel, Random& random);

}  // namespace attune
