/// How much of a box of indices has a property, found by halves.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace attune {

/// From `begin` up to before `end`.
struct IndexRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};
using IndexBox = std::vector<IndexRange>;

/// So many of so many; where they were too many to look at, `part` is an estimate and at most `doubt` away.
struct Portion {
  std::int64_t part = 0, whole = 0, doubt = 0;
  /// Nothing of nothing is all of it.
  double share() const { return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole); }
};

/// How a property is known.
struct BoxProperty {
  /// What is known of a whole box: 0 nothing of it, 1 all of it, -1 neither.
  std::function<int(const IndexBox&)> known;
  std::function<std::int64_t(const IndexBox&)> size;   ///< how many there are in a box
  std::function<std::int64_t(const IndexBox&)> count;  ///< how many have it, in a box of at most `sides` along each dim
  std::vector<std::int64_t> sides;
};

/// Over the box. Boxes of which nothing is known are cut in two until they are of `sides` and counted, as long as there are at most `most_open`
/// of them; beyond that one place in each, chosen by a fixed sequence of random numbers, stands for all of it.
/// 2^18 boxes are all of 32768 x 32768 in squares of 64, ten seconds of work where every square has to be counted.
Portion portion_of(const IndexBox& box, const BoxProperty& property, std::size_t most_open = std::size_t{1} << 18);

}  // namespace attune
