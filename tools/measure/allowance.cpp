#include "tools/measure/allowance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {
namespace {

constexpr double factor = 4, most_unsettled = 0.01;
/// Of an element's size: what rounding to f32 moves by more is unsettled, and what rounding to less bits moves by more than so many of its units.
constexpr double settled_share = 0.01, settled_units = 32;

/// The allowance of an output, and how many of its elements are unsettled.
struct Measured {
  Allowance allowance;
  std::size_t unsettled = 0;
};
Measured measured(const Array& expected, const Array& moved, attune_storage storage, double share) {
  if (expected.type.kind != Kind::real) return {};
  Measured result;
  const StorageInfo& info = info_of(storage);
  result.allowance.share = info.rounding;  // of storing the result
  result.allowance.greatest = info.greatest;
  const double size = root_mean_square(expected.data);
  double most = std::numeric_limits<float>::min();  // less is zero to kernels
  for (std::size_t i = 0; i < moved.data.size(); ++i) {
    const double x = expected.data[i], near = share * std::max(size, std::isfinite(x) ? std::abs(x) : 0);
    if (moved.data[i] <= near) {
      most = std::max(most, moved.data[i]);
      continue;
    }
    result.allowance.unsettled.emplace(i, factor * moved.data[i]);
    if (x != 0) ++result.unsettled;
  }
  result.allowance.number = factor * most + info.least;
  return result;
}

/// Integers and truth values that rounding moves: nothing can be said of them.
Measured measured_exact(const Array& moved) {
  Measured result;
  for (std::size_t i = 0; i < moved.data.size(); ++i)
    if (moved.data[i] > 0) result.allowance.unsettled.emplace(i, std::numeric_limits<double>::infinity());
  result.unsettled = result.allowance.unsettled.size();
  return result;
}

}  // namespace

double Allowance::of(std::size_t element, double expected) const {
  const auto own = unsettled.empty() ? unsettled.end() : unsettled.find(element);
  return (own == unsettled.end() ? number : std::max(number, own->second)) + (std::isfinite(expected) ? share * std::abs(expected) : 0);
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double x : values)
    if (std::isfinite(x)) sum += x * x, ++count;
  return count == 0 ? 0 : std::sqrt(sum / count);
}

Judge judge(const Graph& graph, const Arrays& inputs, const Storages& storages, std::optional<attune_storage> products) {
  Rounding rounding;
  if (products) rounding.products = info_of(*products).rounding / 2;
  for (const auto& [name, storage] : storages)
    if (is_real(storage) && bytes_of(storage) < bytes_of(attune_f32)) rounding.units.emplace(name, info_of(storage).rounding / 2);
  const double settled = std::max(settled_share, settled_units * rounding.products);
  RoundedInterpretation rounded = interpret_rounded(graph, inputs, rounding);
  Judge result{{}, {}, std::move(rounded.problem)};
  if (!result.problem.empty()) return result;
  for (const auto& [name, expected] : rounded.outputs) {
    const Array& moved = rounded.moved.at(name);
    const auto stored = storages.find(name);
    Measured of =
        expected.type.kind == Kind::real ? measured(expected, moved, stored == storages.end() ? attune_f32 : stored->second, settled) : measured_exact(moved);
    const auto elements = static_cast<double>(expected.data.size());
    if (static_cast<double>(of.unsettled) > std::max(1.0, most_unsettled * elements))
      result.problem = "output '" + name + "' cannot be compared for these inputs: rounding to " + std::string(name_of(products.value_or(attune_f32))) +
                       " alone moves " + std::to_string(of.unsettled) + " of its " + std::to_string(expected.data.size()) + " elements by more than " +
                       (products ? "a few hundredths" : "a hundredth") + " of their size; other inputs or extents may say more";
    result.allowed.emplace(name, std::move(of.allowance));
  }
  result.outputs = std::move(rounded.outputs);
  return result;
}

Difference compare(const std::vector<double>& got, const Array& expected, const Allowance& allowance) {
  Difference d;
  d.elements = static_cast<std::int64_t>(got.size());
  std::size_t worst = 0;
  double most = -1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double a = got[i], b = expected.data[i];
    const double allowed = allowance.of(i, b);
    const bool is_beyond = std::isinf(a) && std::isfinite(b) && std::signbit(a) == std::signbit(b) && std::abs(b) + allowed > allowance.greatest;
    const double difference = is_beyond ? 0 : distance(a, b);
    if (difference > allowed) ++d.differing;
    if (is_beyond || !std::isfinite(b)) ++d.not_finite;
    const double share = difference == 0 ? 0 : allowed > 0 ? difference / allowed : std::numeric_limits<double>::infinity();
    if (share <= most) continue;
    most = share;
    worst = i;
    d.worst = difference;
    d.allowed = allowed;
  }
  if (got.empty()) return d;
  d.got = got[worst];
  d.expected = expected.data[worst];
  d.worst_index.resize(expected.extents.size());
  for (std::size_t i = expected.extents.size(); i-- > 0;) {
    d.worst_index[i] = static_cast<std::int64_t>(worst) % expected.extents[i];
    worst /= static_cast<std::size_t>(expected.extents[i]);
  }
  return d;
}

std::string describe(const Difference& d) {
  char numbers[160];
  if (d.differing == 0) {
    std::string not_finite;
    if (d.not_finite == d.elements && d.elements > 0) not_finite = ", all of them NaN or infinite (other extents or inputs may say more)";
    else if (d.not_finite > 0) not_finite = ", " + std::to_string(d.not_finite) + " of them NaN or infinite";
    std::snprintf(numbers, sizeof numbers, ", largest difference %.3g, allowed %.3g", d.worst, d.allowed);
    return std::to_string(d.elements) + " elements agree" + not_finite + numbers;
  }
  std::snprintf(numbers, sizeof numbers, "got %.9g, expected %.9g, allowed %.3g", d.got, d.expected, d.allowed);
  std::string index;
  for (const std::int64_t i : d.worst_index) index += (index.empty() ? "" : ", ") + std::to_string(i);
  return std::to_string(d.differing) + " of " + std::to_string(d.elements) + " elements differ; worst at [" + index + "]: " + numbers;
}

}  // namespace attune
