/// The sizes of this CPU's data caches.
#pragma once

#include <cstdint>

namespace attune {

/// Bytes of each level, as one core sees it; 0 where the system does not say.
struct Caches {
  std::int64_t l1 = 0, l2 = 0, l3 = 0;
};
Caches caches_of_this_cpu();

}  // namespace attune
