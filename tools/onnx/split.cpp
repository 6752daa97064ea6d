#include <algorithm>
#include <numeric>

#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// How long the parts are; a problem where they are not the axis.
std::vector<std::int64_t> lengths_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t whole) {
  const auto count = static_cast<std::int64_t>(operation.outputs.size());
  std::vector<std::int64_t> lengths = integers_at(t, operation, given, 1, "split").value_or(std::vector<std::int64_t>());
  if (lengths.empty()) {  // equal ones, of which the last may be shorter
    const std::int64_t each = (whole + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) lengths.push_back(std::clamp<std::int64_t>(whole - i * each, 0, each));
  }
  const bool are_whole = std::ssize(lengths) == count && std::ranges::all_of(lengths, [](std::int64_t length) { return length >= 0; }) &&
                         std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) == whole;
  if (!are_whole)
    t.fail("has " + std::to_string(count) + " results of " + shape_text(lengths) + " positions, of " + std::to_string(whole) + " that there are");
  return lengths;
}

/// Parts of equal length, as of queries, keys and values that one product gives: the axis is [parts x length], so that it may be taken apart further.
std::vector<Term> equal_parts(Translator& t, const Term& x, std::size_t place, std::int64_t count, std::int64_t length) {
  Term part = x;
  part.numbers.reset(), part.constant.clear();
  const Axis number = {t.fresh(count)}, rest = length == 1 ? Axis{} : Axis{t.fresh(length)};
  Axis both = number;
  both.insert(both.end(), rest.begin(), rest.end());
  if (!t.emits()) t.axes.keep(number);
  if (!t.axes.unify(x.axes[place], both)) return t.fail("the axis is taken apart unevenly"), std::vector<Term>();
  part.axes[place] = rest;
  std::vector<Term> parts(static_cast<std::size_t>(count), part);
  if (!t.emits() || !t.problem().empty()) return parts;
  const Names dim = t.names_of(number);
  if (dim.size() != 1) return t.fail("the axis is taken apart unevenly"), std::vector<Term>();
  for (std::int64_t i = 0; i < count; ++i) parts[static_cast<std::size_t>(i)].value = gather(t.value_of(x), constant(t.g, i), {&t.g, dim[0]});
  return parts;
}

/// Parts of other lengths are slices.
std::vector<Term> slices(Translator& t, const Term& x, std::size_t place, const std::vector<std::int64_t>& lengths) {
  std::vector<Term> parts;
  const Axis from = x.axes[place];
  if (!t.emits()) t.axes.keep(from);
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    Term& part = parts.emplace_back(Term{x.kind, x.axes, std::nullopt});
    part.axes[place] = {t.fresh(length, {}, AxisTable::Bound::value)};
    if (!t.emits()) t.taken.push_back(part.axes[place]);
    if (t.emits() && t.problem().empty()) part.value = sliced(t, t.value_of(x), from, {start, length}, part.axes[place]);
    start += length;
  }
  return parts;
}

std::vector<Term> split_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const Term& x = *given[0];
  const std::size_t place = place_of(t, integer_of(number_of(operation, "axis", 0)), x.axes.size());
  if (x.axes.empty() || !t.problem().empty()) return t.fail("its operand has no such axis"), std::vector<Term>();
  const std::vector<std::int64_t> lengths = lengths_of(t, operation, given, t.axes.extent(x.axes[place]));
  if (!t.problem().empty()) return {};
  if (x.numbers && x.axes.size() == 1) {
    std::vector<Term> parts;
    auto from = x.numbers->begin();
    for (const std::int64_t length : lengths) {
      parts.push_back(along_one_axis(t, {from, from + length}, x.kind));
      from += length;
    }
    return parts;
  }
  const Axis own = t.axes.dims(x.axes[place]);
  const bool is_whole = t.decided(std::ranges::any_of(own, [&](int dim) { return t.axes.is_of_value(dim); }));
  const bool are_equal = !is_whole && lengths.size() > 1 && lengths[0] > 0 && std::ranges::count(lengths, lengths[0]) == std::ssize(lengths);
  return are_equal ? equal_parts(t, x, place, std::ssize(lengths), lengths[0]) : slices(t, x, place, lengths);
}

constexpr TermRule rules_of_splits[] = {{"Split", 1, 2, nullptr, split_of}};

}  // namespace

std::span<const TermRule> split_rules() { return rules_of_splits; }

}  // namespace attune
