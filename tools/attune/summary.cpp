#include "tools/attune/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/storage.h"

namespace attune {

std::string summary(std::string_view name, const StoredArray& array) {
  double least = std::numeric_limits<double>::infinity(), greatest = -least, mean = 0;
  std::size_t finite = 0, nan = 0;
  const std::vector<double> values = numbers(array);
  for (const double x : values) {
    nan += std::isnan(x) ? 1 : 0;
    if (!std::isfinite(x)) continue;
    least = std::min(least, x);
    greatest = std::max(greatest, x);
    finite += 1;
    mean += (x - mean) / static_cast<double>(finite);  // a sum of large numbers could be infinite
  }
  const std::string head = fmt::format("{}: {} [{}]", name, name_of(array.storage), fmt::join(array.extents, " x "));
  if (values.empty()) return head + ", no elements";
  const std::string range = finite == 0 ? "no finite element" : fmt::format("{:.6g} to {:.6g}, mean {:.6g}", least, greatest, mean);
  return fmt::format("{}, {}, {} NaN, {} infinite", head, range, nan, values.size() - finite - nan);
}

}  // namespace attune
