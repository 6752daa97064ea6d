#include "tools/measure/portion.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace attune {
namespace {

/// The dim to cut, the one that is longest in sides; -1 if the box is small enough.
int longest(const IndexBox& box, const std::vector<std::int64_t>& sides) {
  int dim = -1;
  double most = 1;
  for (std::size_t i = 0; i < box.size(); ++i) {
    const double length = static_cast<double>(box[i].size()) / static_cast<double>(sides[i]);
    if (length > most) most = length, dim = static_cast<int>(i);
  }
  return dim;
}

/// A place in the box, one index along each dim.
IndexBox place_in(const IndexBox& box, std::mt19937_64& random) {
  IndexBox place;
  for (const IndexRange& range : box) {
    const std::int64_t at = std::uniform_int_distribution<std::int64_t>(range.begin, range.end - 1)(random);
    place.push_back({at, at + 1});
  }
  return place;
}

}  // namespace

Portion portion_of(const IndexBox& box, const BoxProperty& property, std::size_t most_open) {
  Portion sum{0, property.size(box), 0};
  if (std::ranges::any_of(box, [](const IndexRange& range) { return range.size() <= 0; })) return sum;
  std::vector<IndexBox> open{box};
  while (!open.empty() && open.size() <= most_open) {
    std::vector<IndexBox> halves;
    for (IndexBox& one : open) {
      const int known = property.known(one);
      const int dim = known < 0 ? longest(one, property.sides) : -1;
      if (known == 1) sum.part += property.size(one);
      if (known >= 0) continue;
      if (dim < 0) {
        sum.part += property.count(one);
        continue;
      }
      IndexRange& range = one[static_cast<std::size_t>(dim)];
      const std::int64_t middle = range.begin + range.size() / 2, end = range.end;
      range.end = middle;
      halves.push_back(one);
      range = {middle, end};
      halves.push_back(std::move(one));
    }
    open = std::move(halves);
  }
  std::mt19937_64 random;
  for (const IndexBox& one : open) {
    const IndexBox place = place_in(one, random);
    const std::int64_t size = property.size(one);
    const double share = static_cast<double>(property.count(place)) / static_cast<double>(property.size(place));
    sum.part += std::llround(share * static_cast<double>(size));
    sum.doubt += size;
  }
  return sum;
}

}  // namespace attune
