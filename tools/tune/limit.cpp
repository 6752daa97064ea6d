#include "tools/tune/limit.h"

#include <functional>

namespace attune {

std::int64_t learned_limit(const std::function<double(std::int64_t extent)>& ratio, std::int64_t most) {
  constexpr double noise = 0.02;
  std::int64_t limit = 1;
  while (2 * limit <= most && ratio(2 * limit) <= 1 + noise) limit *= 2;
  return limit;
}

}  // namespace attune
