/// Ways to spoil something, of which one is drawn.
#pragma once

#include <string>

#include "tests/hostile/random.h"

namespace attune {

/// A way to spoil what is called with; false if this call has nothing that it could spoil.
template <class... What>
struct Way {
  const char* name;
  bool (*spoil)(What..., Random&);
};

/// Draws ways until one finds something to spoil; gives its name.
template <class Ways, class... What>
std::string spoil_one(const Ways& ways, Random& random, What&... what) {
  for (;;)
    if (const auto& way = random.one_of(ways); way.spoil(what..., random)) return way.name;
}

}  // namespace attune
