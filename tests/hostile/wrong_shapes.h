/// Calls whose extents, strides or storage are wrong, whatever language they are made from.
#pragma once

#include <string>

#include "tests/hostile/prepared_call.h"

namespace attune {

/// Spoils the call in one way; what it did: "wrong extent".
std::string spoil_shape(PreparedCall& call, Random& random);

}  // namespace attune
