/// Up to which extent a schedule for small calls is the better one.
#pragma once

#include <cstdint>
#include <functional>

namespace attune {

/// The largest of 1, 2, 4 ... `most` up to which the small schedule is not slower: where `ratio`, its time over the large one's for calls of that
/// extent, stays within the noise of 1. Extents are tried in order until it is slower; for one alone the small schedule is taken unasked.
std::int64_t learned_limit(const std::function<double(std::int64_t extent)>& ratio, std::int64_t most);

}  // namespace attune
