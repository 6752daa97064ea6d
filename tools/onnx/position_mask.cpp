#include "tools/onnx/position_mask.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace attune {
namespace {

/// The remainder with the sign of the divisor, which is above 0.
std::int64_t rest_of(std::int64_t a, std::int64_t b) { return (a % b + b) % b; }

/// What a matrix shows, and the masks that may be it.
class MaskFinder {
 public:
  MaskFinder(std::span<const double> numbers, std::int64_t rows, std::int64_t columns, double shown)
      : numbers_(numbers), rows_(rows), columns_(columns), shown_(shown) {}

  /// The first of the masks that is the matrix: those with fewer parts come first.
  std::optional<PositionMask> found() const {
    const std::int64_t seen_rows = leading(rows_, columns_, [&](std::int64_t i, std::int64_t j) { return shows(i, j); });
    for (const std::int64_t rows : {std::int64_t{0}, seen_rows}) {
      const std::int64_t seen_columns = leading(columns_, rows_, [&](std::int64_t j, std::int64_t i) { return shows(i, j); });
      for (const auto& [columns, sinks] : {std::array{std::int64_t{0}, std::int64_t{0}}, std::array{seen_columns, std::int64_t{0}},
                                           std::array{std::int64_t{0}, sinks_behind(rows)}}) {
        const PositionMask mask = fitted(rows, columns, sinks);
        if (is_matrix(mask)) return mask;
      }
      if (seen_rows == 0) break;
    }
    return std::nullopt;
  }

 private:
  bool shows(std::int64_t i, std::int64_t j) const { return numbers_[static_cast<std::size_t>(i * columns_ + j)] == shown_; }
  /// How many of the first lines are shown whole.
  static std::int64_t leading(std::int64_t lines, std::int64_t length, const auto& is_shown) {
    std::int64_t count = 0;
    const auto is_whole = [&](std::int64_t line) {
      for (std::int64_t at = 0; at < length; ++at)
        if (!is_shown(line, at)) return false;
      return true;
    };
    while (count < lines && is_whole(count)) ++count;
    return count;
  }
  /// How many of the first columns the last row shows before it shows none: what a window has left behind.
  std::int64_t sinks_behind(std::int64_t rows) const {
    std::int64_t count = 0;
    if (rows < rows_)
      while (count < columns_ && shows(rows_ - 1, count)) ++count;
    return count == columns_ ? 0 : count;
  }

  /// The mask that fits the rows behind the first `rows` and the columns behind `columns` and `sinks`, if any does.
  PositionMask fitted(std::int64_t rows, std::int64_t columns, std::int64_t sinks) const {
    PositionMask mask{rows, columns, sinks};
    const std::int64_t start = std::max(columns, sinks);
    std::vector<std::int64_t> first, last;  // of each row; -1 where it shows nothing
    std::int64_t step = 0;
    for (std::int64_t i = rows; i < rows_; ++i) {
      std::int64_t from = -1, to = -1;
      for (std::int64_t j = start; j < columns_; ++j) {
        if (!shows(i, j)) continue;
        if (from < 0) from = j;
        else step = std::gcd(step, j - to);
        to = j;
      }
      first.push_back(from), last.push_back(to);
    }
    mask.step = std::max<std::int64_t>(step, 1);
    if (const auto any = std::ranges::find_if(last, [](std::int64_t j) { return j >= 0; }); any != last.end())
      mask.rest = rest_of(rows + (any - last.begin()) - *any, mask.step);
    mask.first = end_of(first, rows, [&](std::int64_t j) { return j >= start + mask.step; });
    mask.last = end_of(last, rows, [&](std::int64_t j) { return j < columns_ - mask.step; });
    return mask;
  }

  /// The rule of the rows' ends, of which those that are no border of the matrix say what they are; nothing where none does. The same for all rows,
  /// one further from row to row, or changing at multiples of a block: the first that all rows allow.
  static std::optional<RowEnd> end_of(const std::vector<std::int64_t>& ends, std::int64_t rows, const auto& is_inside) {
    const auto inside = std::ranges::find_if(ends, [&](std::int64_t end) { return end >= 0 && is_inside(end); });
    if (inside == ends.end()) return std::nullopt;
    const std::int64_t row = rows + (inside - ends.begin());
    std::int64_t change = 0;
    for (std::size_t n = 1; n < ends.size(); ++n)
      if (ends[n] != ends[n - 1]) change = std::gcd(change, rows + static_cast<std::int64_t>(n));
    const auto allows = [&](const RowEnd& rule) {
      for (std::size_t n = 0; n < ends.size(); ++n) {
        const std::int64_t ruled = rule.of(rows + static_cast<std::int64_t>(n));
        if (ends[n] >= 0 && (is_inside(ends[n]) ? ruled != ends[n] : is_inside(ruled))) return false;
      }
      return true;
    };
    for (const std::int64_t block : {std::int64_t{0}, std::int64_t{1}, change})
      if (const RowEnd rule{block, *inside - (block == 0 ? 0 : row / block * block)}; allows(rule)) return rule;
    return std::nullopt;
  }

  bool is_matrix(const PositionMask& mask) const {
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < columns_; ++j)
        if (mask.shows(i, j) != shows(i, j)) return false;
    return true;
  }

  std::span<const double> numbers_;
  std::int64_t rows_, columns_;
  double shown_;
};

}  // namespace

bool PositionMask::shows(std::int64_t i, std::int64_t j) const {
  if (i < rows || j < columns) return true;
  const bool is_behind_first = j < sinks || !first || j >= first->of(i), is_before_last = !last || j <= last->of(i);
  return is_behind_first && is_before_last && rest_of(i - j, step) == rest;
}

std::optional<PositionMask> position_mask(std::span<const double> numbers, std::int64_t row_count, std::int64_t column_count, double shown,
                                          double hidden) {
  if (!std::ranges::all_of(numbers, [&](double x) { return x == shown || x == hidden; })) return std::nullopt;
  return MaskFinder(numbers, row_count, column_count, shown).found();
}

Value value_of_mask(const PositionMask& mask, Dim rows, Dim columns) {
  const Value i = index(rows), j = index(columns), distance = j - i;
  const auto end = [&](const RowEnd& rule) { return floor_div(i, rule.block) * rule.block + rule.offset; };
  std::optional<Value> all;
  const auto also = [&](Value condition) { all = all ? *all && condition : condition; };
  if (mask.first) {
    Value is_behind = mask.first->block == 0   ? j >= mask.first->offset
                      : mask.first->block == 1 ? distance >= mask.first->offset
                                               : j >= end(*mask.first);
    also(mask.sinks > 0 ? j < mask.sinks || is_behind : is_behind);
  }
  if (mask.last) also(mask.last->block == 0 ? j <= mask.last->offset : mask.last->block == 1 ? distance <= mask.last->offset : j <= end(*mask.last));
  if (mask.step > 1) also(mod(i - j, mask.step) == mask.rest);
  Value shown = all ? *all : constant(*rows.graph, true);
  if (mask.columns > 0) shown = j < mask.columns || shown;
  if (mask.rows > 0) shown = i < mask.rows || shown;
  return shown;
}

}  // namespace attune
