#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "dsl/integer_range.h"
#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// The same elements with other axes; their value is a value of the same dims.
Term with_axes(Translator& t, const Term& term, std::vector<Axis> axes) {
  Term result = term;
  if (t.emits() && !term.numbers) result.value = t.value_of(term);
  result.axes = std::move(axes);
  return result;
}

Term constant_node(Translator& t, const OnnxOperation& operation, Given, std::int64_t) {
  for (const auto& [name, value] : operation.attributes) {
    if (const auto* tensor = std::get_if<OnnxTensor>(&value)) return t.constant(operation.outputs[0], *tensor);
    if (const auto* number = std::get_if<double>(&value)) return t.numbers({*number}, name == "value_int" ? Kind::i64 : Kind::real);
    if (const auto* numbers = std::get_if<std::vector<double>>(&value))
      return along_one_axis(t, *numbers, name == "value_ints" ? Kind::i64 : Kind::real);
  }
  return no_term(t, "has no value; a tensor or numbers are right");
}

Term shape_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const auto rank = static_cast<std::int64_t>(given[0]->axes.size());
  const auto bound = [&](double x) { return std::clamp<std::int64_t>(integer_of(x) + (x < 0 ? rank : 0), 0, rank); };
  const std::int64_t start = bound(number_of(operation, "start", 0)), end = bound(number_of(operation, "end", static_cast<double>(rank)));
  std::vector<double> extents;
  std::vector<std::optional<Axis>> extents_of;
  for (std::int64_t i = start; i < end; ++i) {
    const Axis& axis = given[0]->axes[static_cast<std::size_t>(i)];
    extents.push_back(static_cast<double>(t.axes.extent(axis)));
    extents_of.emplace_back(axis);
  }
  Term result = along_one_axis(t, std::move(extents), Kind::i64);
  result.extents_of = std::move(extents_of);
  result.follows_extents = true;
  return result;
}

Term size_of(Translator& t, const OnnxOperation&, Given given, std::int64_t) {
  Term result = t.numbers({static_cast<double>(element_count(t.extents(*given[0])))}, Kind::i64);
  Axis all;
  for (const Axis& axis : given[0]->axes) all.insert(all.end(), axis.begin(), axis.end());
  result.extents_of.emplace_back(std::move(all));
  result.follows_extents = true;
  return result;
}

/// Numbers of these extents with their axes in another order, outermost first.
std::vector<double> transposed(const std::vector<double>& numbers, const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& order) {
  std::vector<std::size_t> strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<std::size_t>(extents[i]);
  std::vector<double> result(numbers.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t rest = i, from = 0;
    for (std::size_t axis = order.size(); axis-- > 0;) {
      const auto of = static_cast<std::size_t>(order[axis]), extent = static_cast<std::size_t>(extents[of]);
      from += rest % extent * strides[of];
      rest /= extent;
    }
    result[i] = numbers[from];
  }
  return result;
}

Term transpose_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const std::size_t rank = given[0]->axes.size();
  std::vector<std::int64_t> order = integers_of(operation, "perm");
  if (order.empty())
    for (std::size_t i = rank; i > 0; --i) order.push_back(static_cast<std::int64_t>(i) - 1);
  std::vector<Axis> axes;
  for (std::int64_t& axis : order) axis = static_cast<std::int64_t>(place_of(t, axis, rank));
  if (!t.problem().empty()) return {};
  if (std::set(order.begin(), order.end()).size() != rank || order.size() != rank) return no_term(t, "perm must name each axis once");
  for (const std::int64_t axis : order) axes.push_back(given[0]->axes[static_cast<std::size_t>(axis)]);
  Term result = with_axes(t, *given[0], std::move(axes));
  if (result.numbers && result.numbers->size() > 1) result.numbers = transposed(*given[0]->numbers, t.extents(*given[0]), order);
  return result;
}

Term reshape_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const auto wanted = integers_at(t, operation, given, 1, "shape");
  if (!wanted || !t.problem().empty()) return no_term(t, "has no shape");
  const std::vector<std::int64_t> before = t.extents(*given[0]);
  std::vector<std::int64_t> extents = *wanted;
  std::int64_t known = 1, open = -1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0) extents[i] = i < before.size() ? before[i] : 0;
    if (extents[i] < 0) open = static_cast<std::int64_t>(i);
    else known = ranges::product(known, extents[i]);
  }
  const std::int64_t count = element_count(before);
  if (open >= 0) extents[static_cast<std::size_t>(open)] = known == 0 ? 0 : count / known;
  if (element_count(extents) != count) return no_term(t, shape_text(before) + " has not as many elements as " + shape_text(*wanted));
  Axis all_before, all_after;
  std::vector<Axis> axes;
  for (const Axis& axis : given[0]->axes) all_before.insert(all_before.end(), axis.begin(), axis.end());
  for (const std::int64_t extent : extents) axes.push_back(extent == 1 ? Axis{} : Axis{t.fresh(extent)});
  // an axis of extent 1 that stays in front, as that of a batch of one sequence, stays a dim
  if (count != 1 && extents.front() == 1 && before.front() == 1) axes.front() = given[0]->axes.front();
  for (const Axis& axis : axes) all_after.insert(all_after.end(), axis.begin(), axis.end());
  if (!t.axes.unify(all_before, all_after)) return no_term(t, shape_text(before) + " is taken apart unevenly into " + shape_text(extents));
  return with_axes(t, *given[0], std::move(axes));
}

Term unsqueeze_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const auto places = integers_at(t, operation, given, 1, "axes");
  if (!places) return no_term(t, "has no axes");
  const std::size_t rank = given[0]->axes.size() + places->size();
  std::vector<bool> is_made(rank);
  for (const std::int64_t place : *places) {
    const std::size_t made = place_of(t, place, rank);
    if (!t.problem().empty()) return {};
    is_made[made] = true;
  }
  std::vector<Axis> axes;
  for (std::size_t i = 0, from = 0; i < rank; ++i) axes.push_back(is_made[i] || from >= given[0]->axes.size() ? Axis{} : given[0]->axes[from++]);
  return with_axes(t, *given[0], std::move(axes));
}

Term squeeze_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const auto places = integers_at(t, operation, given, 1, "axes");
  const std::size_t rank = given[0]->axes.size();
  std::vector<bool> goes(rank);
  for (std::size_t i = 0; i < rank && !places; ++i) goes[i] = t.axes.extent(given[0]->axes[i]) == 1;
  for (const std::int64_t place : places.value_or(std::vector<std::int64_t>())) {
    const std::size_t gone = place_of(t, place, rank);
    if (!t.problem().empty()) return {};
    goes[gone] = true;
  }
  std::vector<Axis> axes;
  Term result = *given[0];
  for (std::size_t i = 0; i < rank; ++i) {
    if (!goes[i]) axes.push_back(given[0]->axes[i]);
    else if (t.axes.extent(given[0]->axes[i]) != 1)
      return no_term(t, "an axis that goes has " + std::to_string(t.axes.extent(given[0]->axes[i])) + " positions; it must have one");
    else t.axes.drop(given[0]->axes[i]), t.take_only(result, given[0]->axes[i]);
  }
  return with_axes(t, result, std::move(axes));
}

/// A tensor with axes of these extents along which it does not differ.
std::vector<Axis> axes_of(Translator& t, const Term& shape) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < shape.numbers->size(); ++i) {
    const auto extent = integer_of((*shape.numbers)[i]);
    if (extent < 0) t.fail("has the extent " + std::to_string(extent) + "; extents are at least 0");
    const bool is_known = !shape.extents_of.empty() && shape.extents_of[i];
    // the same positions in two axes, as those of a square mask, are two dims
    const bool is_there = t.decided(is_known && std::ranges::any_of(t.axes.dims(axes), [&, dims = t.axes.dims(*shape.extents_of[i])](int dim) {
                                      return std::ranges::count(dims, dim) != 0;
                                    }));
    if (is_known && !is_there) axes.push_back(*shape.extents_of[i]);
    else axes.push_back(extent == 1 ? Axis{} : Axis{t.fresh(extent)});
  }
  return axes;
}

Term expand_of(Translator& t, const OnnxOperation&, Given given, std::int64_t) {
  if (!given[1]->numbers) return no_term(t, "its shape must be a constant, or follow from shapes");
  std::vector<Term> both = {*given[0], Term{}};
  both[1].axes = axes_of(t, *given[1]);
  std::vector<Axis> axes = t.broadcast(both);
  Term result = with_axes(t, both[0], std::move(axes));
  if (result.numbers && t.emits()) result.value = t.value_of(*given[0]);
  if (element_count(t.extents(result)) != 1) result.numbers.reset();
  return result;
}

/// Of a list that has a number for each axis of some tensor.
constexpr double most_axes = 8;

Term constant_of_shape(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  if (!given[0]->numbers) return no_term(t, "its shape must be a constant, or follow from shapes");
  const auto found = operation.attributes.find("value");
  const auto* tensor = found == operation.attributes.end() ? nullptr : std::get_if<OnnxTensor>(&found->second);
  if (tensor != nullptr && tensor->values.size() != 1) return no_term(t, "its value must be one number");
  const double value = tensor == nullptr ? 0.0 : tensor->values[0];
  Kind kind = tensor == nullptr ? Kind::real : tensor->element->kind;
  if (kind != Kind::real && kind != Kind::boolean) kind = Kind::i64;
  if (given[0]->numbers->size() == 1 && given[0]->numbers->front() >= 0 && given[0]->numbers->front() <= most_axes)
    return along_one_axis(t, std::vector(static_cast<std::size_t>(given[0]->numbers->front()), value), kind);
  Term result = t.numbers({value}, kind);
  if (t.emits()) result.value = t.value_of(result);
  result.axes = axes_of(t, *given[0]);
  if (element_count(t.extents(result)) != 1) result.numbers.reset();
  return result;
}

Term range_of(Translator& t, const OnnxOperation&, Given given, std::int64_t) {
  for (const Term* term : given)
    if (!term->numbers || term->numbers->size() != 1) return no_term(t, "its limits must be constants, or follow from shapes");
  const double start = given[0]->numbers->front(), limit = given[1]->numbers->front(), step = given[2]->numbers->front();
  const double count = step == 0 ? -1 : std::ceil((limit - start) / step);
  if (!(count >= 0 && count < 0x1p40)) return no_term(t, "counts " + std::to_string(count) + " positions");
  // a dim of its own, whatever the limit is the extent of: the same positions may be those of queries and of keys
  Term result{given[0]->kind, {Axis{t.fresh(static_cast<std::int64_t>(count))}}, std::nullopt};
  result.is_index = true;
  if (!t.emits()) return result;
  Value position = position_along(t, result.axes[0]);
  if (result.kind == Kind::real) position = to_real(position);
  result.value = step == 1 && start == 0 ? position : t.value_of(*given[0]) + position * t.value_of(*given[2]);
  return result;
}

/// The positions of a matrix's two last axes on one side of a diagonal; zeros elsewhere.
Term trilu_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  Term result = *given[0];
  const std::size_t rank = result.axes.size();
  if (rank < 2) return no_term(t, "its operand must have 2 axes or more");
  const bool is_upper = number_of(operation, "upper", 1) != 0;
  if (given.size() > 1 && given[1] != nullptr && (!given[1]->numbers || given[1]->numbers->size() != 1))
    return no_term(t, "its diagonal must be a constant");
  result.numbers.reset();
  if (!t.emits()) return result;
  const Names rows = t.names_of(result.axes[rank - 2]), columns = t.names_of(result.axes[rank - 1]);
  if (rows.size() != 1 || columns.size() != 1) return no_term(t, "an axis of the matrix is several dims in a row, or has one position");
  const Value distance = index({&t.g, columns[0]}) - index({&t.g, rows[0]}), x = t.value_of(*given[0]);
  const Value diagonal = given.size() > 1 && given[1] != nullptr ? t.value_of(*given[1]) : constant(t.g, 0);
  const Value stays = is_upper ? distance >= diagonal : distance <= diagonal;
  result.value = select(stays, x, literal(&t.g, 0, result.kind, Here::current()));
  return result;
}

constexpr TermRule rules_of_shapes[] = {{"Constant", 0, 0, constant_node},
                                        {"ConstantOfShape", 1, 1, constant_of_shape},
                                        {"Expand", 2, 2, expand_of},
                                        {"Range", 3, 3, range_of},
                                        {"Reshape", 1, 2, reshape_of},
                                        {"Shape", 1, 1, shape_of},
                                        {"Size", 1, 1, size_of},
                                        {"Squeeze", 1, 2, squeeze_of},
                                        {"Transpose", 1, 1, transpose_of},
                                        {"Trilu", 1, 2, trilu_of},
                                        {"Unsqueeze", 1, 2, unsqueeze_of}};

}  // namespace

std::span<const TermRule> shape_rules() { return rules_of_shapes; }

}  // namespace attune
