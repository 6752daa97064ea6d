#include <algorithm>
#include <array>

#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// The elements of a list of known numbers at some places; what is an extent stays one.
Term taken(Translator& t, const Term& from, const std::vector<std::size_t>& places, bool is_single) {
  std::vector<double> numbers;
  std::vector<std::optional<Axis>> extents_of;
  for (const std::size_t place : places) {
    numbers.push_back((*from.numbers)[place]);
    if (!from.extents_of.empty()) extents_of.push_back(from.extents_of[place]);
  }
  Term result = is_single ? t.numbers(std::move(numbers), from.kind) : along_one_axis(t, std::move(numbers), from.kind);
  result.extents_of = std::move(extents_of);
  result.follows_extents = from.follows_extents;
  return result;
}

bool is_list(const Term& term) { return term.numbers && term.axes.size() == 1; }

/// The dim of an axis that is no more than one. A problem if it is several in a row, or none because it has one position.
std::optional<Dim> only_dim(Translator& t, const Axis& axis) {
  const Names names = t.names_of(axis);
  if (names.size() == 1 && t.axes.dims(axis).size() == 1) return Dim{&t.g, names[0]};
  t.fail(names.empty() ? "its axis has one position, which stands for no dim" : "its axis is several dims in a row");
  return {};
}

/// The row of a number along an axis, which may be several dims in a row.
Value row_of(Translator& t, Value table, const Axis& along, Value number) {
  const Names dims = t.names_of(along);
  if (dims.empty()) return t.fail("its axis has one position, which stands for no dim"), table;
  for (int i = dims.size(); i-- > 1; number = floor_div(number, extent(Dim{&t.g, dims[i]})))
    table = gather(table, mod(number, extent(Dim{&t.g, dims[i]})), Dim{&t.g, dims[i]});
  return gather(table, number, Dim{&t.g, dims[0]});
}

/// Rows of a table by numbers. A number below 0 counts from the end.
Term gather_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const Term& table = *given[0];
  Term ids = *given[1];
  const std::size_t place = place_of(t, integer_of(number_of(operation, "axis", 0)), table.axes.size());
  if (table.axes.empty() || !t.problem().empty()) return no_term(t, "its table has no such axis");
  if (is_list(table) && ids.numbers && ids.axes.size() < 2) {
    std::vector<std::size_t> places;
    for (const double at : *ids.numbers) places.push_back(place_of(t, integer_of(at), table.numbers->size()));
    return t.problem().empty() ? taken(t, table, places, ids.axes.empty()) : Term{};
  }
  const Axis along = table.axes[place];
  const Axis all = t.axes.dims(table.axes);
  for (Axis& axis : ids.axes) {
    const Axis dims = t.axes.dims(axis);
    t.rename_if(std::ranges::any_of(dims, [&](int dim) { return std::ranges::find(all, dim) != all.end(); }), ids, axis);
  }
  Term result{table.kind, {table.axes.begin(), table.axes.begin() + static_cast<std::ptrdiff_t>(place)}, std::nullopt};
  result.axes.insert(result.axes.end(), ids.axes.begin(), ids.axes.end());
  result.axes.insert(result.axes.end(), table.axes.begin() + static_cast<std::ptrdiff_t>(place) + 1, table.axes.end());
  if (!t.emits()) t.axes.keep(along);
  if (!t.emits() || !t.problem().empty()) return result;
  if (ids.numbers && ids.numbers->size() == 1 && !ids.follows_extents) {
    const std::int64_t number = integer_of(ids.numbers->front());
    result.value = row_of(t, t.value_of(table), along, constant(t.g, number + (number < 0 ? t.axes.extent(along) : 0)));
  } else {
    const Value numbers = t.value_of(ids);
    result.value = row_of(t, t.value_of(table), along, select(numbers < 0, numbers + t.extent_along(along), numbers));
  }
  return result;
}

/// Which positions a Slice takes of each axis.
std::vector<Taken> taken_of(Translator& t, const OnnxOperation& operation, Given given) {
  const std::vector<std::int64_t> extents = t.extents(*given[0]);
  std::vector<Taken> all;
  for (const std::int64_t extent : extents) all.push_back({0, extent, 1});
  const auto starts = integers_at(t, operation, given, 1, "starts"), ends = integers_at(t, operation, given, 2, "ends");
  const auto axes = integers_at(t, operation, given, 3, "axes"), steps = integers_at(t, operation, given, 4, "steps");
  if (!starts || !ends || starts->size() != ends->size() || (axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size()))
    return t.fail("has not as many starts, ends, axes and steps"), all;
  for (std::size_t i = 0; i < starts->size() && t.problem().empty(); ++i) {
    const std::size_t place = place_of(t, axes ? (*axes)[i] : static_cast<std::int64_t>(i), extents.size());
    const std::int64_t step = steps ? (*steps)[i] : 1;
    if (step < 1) return t.fail("has the step " + std::to_string(step) + "; it must be at least 1"), all;
    if (!t.problem().empty()) return all;
    const auto bound = [&](std::int64_t x) { return std::clamp<std::int64_t>(x < 0 ? x + extents[place] : x, 0, extents[place]); };
    const std::int64_t start = bound((*starts)[i]), end = std::max(start, bound((*ends)[i]));
    all[place] = {start, (end - start + step - 1) / step, step, i};
  }
  return all;
}

/// A part of a constant is one.
Term numbers_of(Translator& t, const OnnxOperation& operation, const Term& from, const std::vector<Taken>& parts) {
  std::vector<double> numbers;
  const std::vector<std::int64_t> extents = t.extents(from);
  for (std::size_t i = 0; i < from.numbers->size(); ++i) {
    bool is_taken = true;
    std::int64_t rest = static_cast<std::int64_t>(i);
    for (std::size_t axis = parts.size(); axis-- > 0; rest /= extents[axis]) {
      const std::int64_t at = rest % extents[axis] - parts[axis].start;
      is_taken = is_taken && at >= 0 && at % parts[axis].step == 0 && at / parts[axis].step < parts[axis].count;
    }
    if (is_taken) numbers.push_back((*from.numbers)[i]);
  }
  OnnxTensor tensor{find_element(from.kind == Kind::real ? "float32" : from.kind == Kind::boolean ? "bool" : "int64"), {}, std::move(numbers), {}};
  for (const Taken& part : parts) tensor.extents.push_back(part.count);
  return t.constant(operation.outputs[0], tensor);
}

/// The i-th of a list of numbers as a value, where it follows from extents, too.
Value number_at(Translator& t, const Term& list, std::size_t i) {
  if (list.numbers->size() == 1) return t.value_of(list);
  if (!list.extents_of.empty() && list.extents_of[i]) return t.extent_along(*list.extents_of[i]);
  return constant(t.g, integer_of((*list.numbers)[i]));
}

/// A part of a constant, as of the mask of all positions, that begins or ends where extents say: rows of the constant by their positions, so that calls
/// of other extents have theirs.
Term rows_of_constant(Translator& t, Given given, const std::vector<Taken>& parts) {
  const Term& from = *given[0];
  Term result{from.kind, from.axes, std::nullopt};
  result.is_part_of_constant = true;
  std::optional<Value> value;
  if (t.emits()) value = t.value_of(from);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t extent = t.axes.extent(from.axes[i]);
    if (!parts[i].number || extent == 1) continue;
    result.axes[i] = {t.fresh(parts[i].count)};
    if (!t.emits() || !t.problem().empty()) continue;
    const Value start = number_at(t, *given[1], *parts[i].number), first = select(start < 0, start + extent, start);
    const Names dims = t.names_of(from.axes[i]);
    if (dims.size() != 1) return no_term(t, "takes a part of a constant by extents along an axis that is several dims in a row");
    value = gather(*value, first + position_along(t, result.axes[i]) * parts[i].step, t.g.dim(dims[0], extent));
  }
  result.value = value;
  return result;
}

bool follows_extents(Given given, std::size_t place) { return given.size() > place && given[place] != nullptr && given[place]->follows_extents; }

Term slice_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const std::vector<Taken> parts = taken_of(t, operation, given);
  if (!t.problem().empty()) return {};
  if (is_list(*given[0])) {
    std::vector<std::size_t> places;
    for (std::int64_t i = 0; i < parts[0].count; ++i) places.push_back(static_cast<std::size_t>(parts[0].start + i * parts[0].step));
    return taken(t, *given[0], places, false);
  }
  const bool is_constant = given[0]->numbers && given[0]->numbers->size() != 1;
  if ((is_constant && follows_extents(given, 1)) || (given[0]->is_part_of_constant && follows_extents(given, 2)))
    return rows_of_constant(t, given, parts);
  if (is_constant) return numbers_of(t, operation, *given[0], parts);
  Term result = *given[0];
  result.numbers.reset(), result.constant.clear();
  if (t.emits()) result.value = t.value_of(*given[0]);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Axis from = given[0]->axes[i];
    if (parts[i].count == t.axes.extent(from)) continue;
    if (!t.emits()) t.axes.keep(from);
    result.axes[i] = {t.fresh(parts[i].count, {}, AxisTable::Bound::value)};
    if (!t.emits()) t.taken.push_back(result.axes[i]);
    if (t.emits() && t.problem().empty()) result.value = sliced(t, *result.value, from, parts[i], result.axes[i]);
  }
  return result;
}

Term concat_of_lists(Translator& t, Given given) {
  std::vector<double> numbers;
  std::vector<std::optional<Axis>> extents_of;
  for (const Term* part : given)
    for (std::size_t i = 0; i < part->numbers->size(); ++i) {
      numbers.push_back((*part->numbers)[i]);
      extents_of.push_back(part->extents_of.empty() ? std::nullopt : part->extents_of[i]);
    }
  Term result = along_one_axis(t, std::move(numbers), given[0]->kind);
  result.extents_of = std::move(extents_of);
  result.follows_extents = std::ranges::any_of(given, [](const Term* part) { return part->follows_extents; });
  return result;
}

/// A dim of one position in the place of an axis that has none.
void add_only_position(Translator& t, Term& part, std::size_t place) {
  part.axes[place] = {t.fresh(1, {}, AxisTable::Bound::value)};
  if (t.emits() && t.problem().empty()) part.value = along(t.value_of(part), t.g.dim(t.name_of(part.axes[place][0]), 1));
}

/// Tensors one behind the other along an axis, as the keys of a cache and those of the call.
Term concat_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  if (std::ranges::any_of(given, [](const Term* part) { return part == nullptr; })) return no_term(t, "an input is left out");
  if (std::ranges::all_of(given, [](const Term* part) { return is_list(*part); })) return concat_of_lists(t, given);
  std::vector<Term> parts;
  for (const Term* part : given) parts.push_back(*part);
  const std::size_t rank = parts[0].axes.size(), place = place_of(t, integer_of(number_of(operation, "axis", 0)), rank);
  if (parts.size() > max_operands || !t.problem().empty())
    return no_term(t, "joins " + std::to_string(parts.size()) + " tensors; up to " + std::to_string(max_operands) + " are possible");
  std::int64_t sum = 0;
  for (Term& part : parts) {
    if (part.axes.size() != rank) return no_term(t, "joins tensors that have not as many axes");
    sum += t.axes.extent(part.axes[place]);
    if (t.decided(t.axes.dims(part.axes[place]).empty())) add_only_position(t, part, place);
    if (!t.emits()) t.axes.keep(part.axes[place]);
    for (std::size_t i = 0; i < rank; ++i)
      if (i != place && !t.axes.unify(parts[0].axes[i], part.axes[i])) return no_term(t, "joins tensors of different extents beside the axis");
  }
  Term result{parts[0].kind, parts[0].axes, std::nullopt};
  result.axes[place] = {t.fresh(sum, {}, AxisTable::Bound::value)};
  if (!t.emits()) {
    t.joined.push_back({result.axes[place], {}});
    for (const Term& part : parts) t.joined.back().parts.push_back(part.axes[place]);
  }
  if (!t.emits()) return result;
  Concat op{{}, {}};
  std::vector<Value> values;
  for (const Term& part : parts) {
    const std::optional<Dim> dim = only_dim(t, part.axes[place]);
    if (!dim) return result;
    op.along.add(dim->name);
    values.push_back(t.value_of(part));
  }
  op.into = t.names_of(result.axes[place])[0];
  result.value = call_in(&t.g, op, std::span<const Value>(values), Here::current());
  return result;
}

constexpr TermRule rules_of_selections[] = {{"Concat", 1, 1 << 20, concat_of}, {"Gather", 2, 2, gather_of}, {"Slice", 1, 5, slice_of}};

}  // namespace

std::span<const TermRule> selection_rules() { return rules_of_selections; }

}  // namespace attune
