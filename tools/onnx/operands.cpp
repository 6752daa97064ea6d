#include "tools/onnx/operands.h"

#include <algorithm>
#include <iterator>

namespace attune {

double number_of(const OnnxOperation& operation, std::string_view attribute, double missing) {
  const auto found = operation.attributes.find(attribute);
  const double* number = found == operation.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return number == nullptr ? missing : *number;
}

std::string text_of(const OnnxOperation& operation, std::string_view attribute) {
  const auto found = operation.attributes.find(attribute);
  const std::string* text = found == operation.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

std::vector<std::int64_t> integers_of(const OnnxOperation& operation, std::string_view attribute) {
  const auto found = operation.attributes.find(attribute);
  const auto* numbers = found == operation.attributes.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
  std::vector<std::int64_t> integers;
  if (numbers != nullptr) std::ranges::transform(*numbers, std::back_inserter(integers), integer_of);
  return integers;
}

Term no_term(Translator& t, std::string problem) {
  t.fail(std::move(problem));
  return {};
}

std::optional<std::vector<std::int64_t>> integers_at(Translator& t, const OnnxOperation& operation, Given given, std::size_t place,
                                                     std::string_view attribute) {
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

namespace {

/// Whether another slice gives one of the axis's dims, too: it follows from one of them at most.
bool is_taken_twice(const Translator& t, const Axis& into) {
  const Axis own = t.axes.dims(into);
  return std::ranges::count_if(t.taken, [&](const Axis& axis) {
           return std::ranges::any_of(t.axes.dims(axis), [&](int dim) { return std::ranges::find(own, dim) != own.end(); });
         }) > 1;
}

}  // namespace

Value sliced(Translator& t, Value x, const Axis& from, const Taken& taken, const Axis& into) {
  const Names of = t.names_of(from), parts = t.names_of(into);
  if (of.size() != 1 || t.axes.dims(from).size() != 1) return t.fail("takes a part of an axis that is several dims in a row, or has one position"), x;
  const Dim along{&t.g, of[0]};
  if (parts.size() == 1 && !is_taken_twice(t, into)) return slice(x, along, {taken.start, taken.step, taken.count}, {&t.g, parts[0]});
  const Name whole = t.keep(std::string(of[0]) + "_from_" + std::to_string(taken.start));
  const Value part = slice(x, along, {taken.start, taken.step, taken.count}, t.g.dim(whole));
  if (parts.empty()) return gather(part, constant(t.g, 0), {&t.g, whole});
  if (parts.size() > 3) return t.fail("takes a part that is reshaped into " + std::to_string(parts.size()) + " axes; up to 3 are possible"), x;
  // one position in front is what is left, so that no other dim follows from this axis: the same heads may be in several parts
  const Name left = t.keep(std::string(whole) + "_left");
  Split op{whole, {left}, {}};
  for (const int dim : t.axes.dims(into)) {
    op.extents[static_cast<std::size_t>(op.into.size())] = t.axes.extent(dim);
    op.into.add(t.name_of(dim));
  }
  return gather(call(op, {part}, Here::current()), constant(t.g, 0), {&t.g, left});
}

bool has_all(Translator& t, const Term& term, const Axis& axis) { return t.names_of(axis).without(dims_of(t.value_of(term))).empty(); }

std::optional<Value> product_over(Translator& t, const Term& a, const Term& b, const Axis& summed) {
  const Names over = t.names_of(summed);
  if (!has_all(t, a, summed) || !has_all(t, b, summed)) return t.fail("sums over an axis along which an operand was expanded"), std::nullopt;
  const Value left = t.value_of(a), right = t.value_of(b);
  return over.empty() ? left * right : call(Matmul{over}, {left, right}, Here::current());
}

Value position_along(Translator& t, const Axis& axis) {
  std::optional<Value> position;
  for (const Name dim : t.names_of(axis)) {
    const Dim each{&t.g, dim};
    position = position ? *position * extent(each) + index(each) : index(each);
  }
  return position ? *position : constant(t.g, 0);
}

Value along(Value x, Dim dim) { return select(index(dim) >= 0, x, x); }

Term along_one_axis(Translator& t, std::vector<double> numbers, Kind kind) {
  Term term = t.numbers(std::move(numbers), kind);
  if (term.axes.empty()) term.axes.emplace_back();
  return term;
}

}  // namespace attune
