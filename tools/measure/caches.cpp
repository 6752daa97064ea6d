#include "tools/measure/caches.h"

#include <unistd.h>

#include <algorithm>

namespace attune {

Caches caches_of_this_cpu() {
  const auto bytes = [](int name) { return std::max<std::int64_t>(sysconf(name), 0); };
  return {bytes(_SC_LEVEL1_DCACHE_SIZE), bytes(_SC_LEVEL2_CACHE_SIZE), bytes(_SC_LEVEL3_CACHE_SIZE)};
}

}  // namespace attune
