#include "tools/onnx/operands.h"

#include <algorithm>

namespace attune {

Term no_term(Translator& t, std::string problem) {
  t.fail(std::move(problem));
  return {};
}

std::optional<std::vector<std::int64_t>> integers_at(Translator& t, const OnnxOperation& operation, Given given, std::size_t place, std::string_view attribute) {
  if (given.size() <= place || given[place] == nullptr) {
    std::vector<std::int64_t> integers = integers_of(operation, attribute);
    return integers.empty() ? std::nullopt : std::optional(integers);
  }
  std::vector<std::int64_t> integers;
  if (!given[place]->numbers) t.fail("input " + std::to_string(place) + " must be a constant, or follow from shapes");
  else std::ranges::transform(*given[place]->numbers, std::back_inserter(integers), integer_of);
  return integers;
}

std::size_t place_of(Translator& t, std::int64_t axis, std::size_t rank) {
  const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (place >= 0 && place < static_cast<std::int64_t>(rank)) return static_cast<std::size_t>(place);
  t.fail("axis " + std::to_string(axis) + " is none of " + std::to_string(rank));
  return 0;
}

Term along_one_axis(Translator& t, std::vector<double> numbers, Kind kind) {
  Term term = t.numbers(std::move(numbers), kind);
  if (term.axes.empty()) term.axes.emplace_back();
  return term;
}

}  // namespace attune
