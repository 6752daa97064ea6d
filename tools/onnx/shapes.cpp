#include <algorithm>
#include <array>
#include <cmath>

#include "tools/onnx/translator.h"

namespace attune {
namespace {

using Given = std::span<const Term* const>;

Term no_term(Translator& t, std::string problem) {
  t.fail(std::move(problem));
  return {};
}

/// The integers of an operand, or of the attribute that older opsets have in its place; nothing where neither is there.
std::optional<std::vector<std::int64_t>> integers_at(Translator& t, const OnnxOperation& operation, Given given, std::size_t place, std::string_view attribute) {
  if (given.size() > place && given[place] != nullptr) {
    if (given[place]->numbers) return std::vector<std::int64_t>(given[place]->numbers->begin(), given[place]->numbers->end());
    t.fail("input " + std::to_string(place) + " must be a constant, or follow from shapes");
    return std::vector<std::int64_t>();
  }
  std::vector<std::int64_t> integers = integers_of(operation, attribute);
  return integers.empty() ? std::nullopt : std::optional(integers);
}

/// An axis counted from the end where it is negative; 0 and a problem where there is none.
std::size_t place_of(Translator& t, std::int64_t axis, std::size_t rank) {
  const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (place >= 0 && place < static_cast<std::int64_t>(rank)) return static_cast<std::size_t>(place);
  t.fail("axis " + std::to_string(axis) + " is none of " + std::to_string(rank));
  return 0;
}

/// The same elements with other axes; their value is a value of the same dims.
Term with_axes(Translator& t, const Term& term, std::vector<Axis> axes) {
  Term result = term;
  if (t.emits() && !term.numbers) result.value = t.value_of(term);
  result.axes = std::move(axes);
  return result;
}

Term cast(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const OnnxElement* element = find_element(static_cast<int>(number_of(operation, "to", 0)));
  if (element == nullptr) return no_term(t, "the type to convert to is not supported");
  Term result = *given[0];
  result.kind = element->kind == Kind::real || element->kind == Kind::boolean ? element->kind : Kind::i64;
  if (result.kind == given[0]->kind) return result;
  if (result.numbers)
    for (double& x : *result.numbers) x = result.kind == Kind::boolean ? x != 0 : result.kind == Kind::i64 ? std::trunc(x) : x;
  if (!t.emits() || (result.numbers && result.numbers->size() != 1)) return result;
  const Value x = t.value_of(*given[0]);
  result.value = result.kind == Kind::real ? to_real(x) : result.kind == Kind::i64 ? to_i64(x) : x != (given[0]->kind == Kind::real ? literal(&t.g, 0, Kind::real, Here::current()) : constant(t.g, 0));
  return result;
}

Term constant_node(Translator& t, const OnnxOperation& operation, Given, std::int64_t) {
  for (const auto& [name, value] : operation.attributes) {
    if (const auto* tensor = std::get_if<OnnxTensor>(&value)) return t.constant(operation.outputs[0], *tensor);
    if (const auto* number = std::get_if<double>(&value)) return t.numbers({*number}, name == "value_int" ? Kind::i64 : Kind::real);
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return t.numbers(*numbers, name == "value_ints" ? Kind::i64 : Kind::real);
  }
  return no_term(t, "has no value; a tensor or numbers are right");
}

Term shape_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const auto rank = static_cast<std::int64_t>(given[0]->axes.size());
  const auto bound = [&](double x) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(x) + (x < 0 ? rank : 0), 0, rank); };
  const std::int64_t start = bound(number_of(operation, "start", 0)), end = bound(number_of(operation, "end", static_cast<double>(rank)));
  std::vector<double> extents;
  std::vector<std::optional<Axis>> extents_of;
  for (std::int64_t i = start; i < end; ++i) {
    const Axis& axis = given[0]->axes[static_cast<std::size_t>(i)];
    extents.push_back(static_cast<double>(t.axes.extent(axis)));
    extents_of.emplace_back(axis);
  }
  Term result = t.numbers(std::move(extents), Kind::i64);
  if (result.axes.empty()) result.axes.emplace_back();  // a shape has one axis, whatever its length
  result.extents_of = std::move(extents_of);
  return result;
}

/// The elements of known numbers at some places; what is an extent stays one.
Term taken(Translator& t, const Term& from, const std::vector<std::size_t>& places, bool is_single) {
  std::vector<double> numbers;
  std::vector<std::optional<Axis>> extents_of;
  for (const std::size_t place : places) {
    numbers.push_back((*from.numbers)[place]);
    if (!from.extents_of.empty()) extents_of.push_back(from.extents_of[place]);
  }
  Term result = t.numbers(std::move(numbers), from.kind);
  if (!is_single && result.axes.empty()) result.axes.emplace_back();
  result.extents_of = std::move(extents_of);
  return result;
}

Term gather_of(Translator& t, const OnnxOperation&, Given given, std::int64_t) {
  if (!given[0]->numbers || !given[1]->numbers || given[0]->axes.size() != 1) return no_term(t, "takes elements of shapes and other known numbers alone");
  std::vector<std::size_t> places;
  for (const double at : *given[1]->numbers) places.push_back(place_of(t, static_cast<std::int64_t>(at), given[0]->numbers->size()));
  return t.problem().empty() ? taken(t, *given[0], places, given[1]->axes.empty()) : Term{};
}

Term slice_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  if (!given[0]->numbers || given[0]->axes.size() != 1) return no_term(t, "takes a part of shapes and other known numbers alone");
  const auto count = static_cast<std::int64_t>(given[0]->numbers->size());
  const auto starts = integers_at(t, operation, given, 1, "starts"), ends = integers_at(t, operation, given, 2, "ends"), steps = integers_at(t, operation, given, 4, "steps");
  if (!starts || !ends || starts->size() != 1 || ends->size() != 1 || (steps && *steps != std::vector<std::int64_t>{1})) return no_term(t, "takes a part in one step alone");
  const auto bound = [&](std::int64_t x) { return std::clamp<std::int64_t>(x < 0 ? x + count : x, 0, count); };
  std::vector<std::size_t> places;
  for (std::int64_t i = bound((*starts)[0]); i < bound((*ends)[0]); ++i) places.push_back(static_cast<std::size_t>(i));
  return taken(t, *given[0], places, false);
}

Term concat_of(Translator& t, const OnnxOperation&, Given given, std::int64_t) {
  Term all{given[0]->kind, {Axis{}}, std::vector<double>()};
  for (const Term* part : given) {
    if (part == nullptr || !part->numbers || part->axes.size() != 1) return no_term(t, "joins shapes and other known numbers alone");
    for (std::size_t i = 0; i < part->numbers->size(); ++i) {
      all.numbers->push_back((*part->numbers)[i]);
      all.extents_of.push_back(part->extents_of.empty() ? std::nullopt : part->extents_of[i]);
    }
  }
  Term result = t.numbers(*all.numbers, all.kind);
  if (result.axes.empty()) result.axes.emplace_back();
  result.extents_of = std::move(all.extents_of);
  return result;
}

Term transpose_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const std::size_t rank = given[0]->axes.size();
  std::vector<std::int64_t> order = integers_of(operation, "perm");
  if (order.empty())
    for (std::size_t i = rank; i > 0; --i) order.push_back(static_cast<std::int64_t>(i) - 1);
  std::vector<Axis> axes;
  for (const std::int64_t axis : order) axes.push_back(given[0]->axes[place_of(t, axis, rank)]);
  if (axes.size() != rank) return no_term(t, "perm must name each axis once");
  return with_axes(t, *given[0], std::move(axes));
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
    else known *= extents[i];
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
  for (const std::int64_t place : *places) is_made[place_of(t, place, rank)] = true;
  std::vector<Axis> axes;
  for (std::size_t i = 0, from = 0; i < rank; ++i) axes.push_back(is_made[i] || from >= given[0]->axes.size() ? Axis{} : given[0]->axes[from++]);
  return with_axes(t, *given[0], std::move(axes));
}

Term squeeze_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const auto places = integers_at(t, operation, given, 1, "axes");
  const std::size_t rank = given[0]->axes.size();
  std::vector<bool> goes(rank);
  for (std::size_t i = 0; i < rank && !places; ++i) goes[i] = t.axes.extent(given[0]->axes[i]) == 1;
  if (places)
    for (const std::int64_t place : *places) goes[place_of(t, place, rank)] = true;
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!goes[i]) axes.push_back(given[0]->axes[i]);
    else if (t.axes.extent(given[0]->axes[i]) != 1) return no_term(t, "an axis that goes has " + std::to_string(t.axes.extent(given[0]->axes[i])) + " positions; it must have one");
    else t.axes.drop(given[0]->axes[i]);
  }
  return with_axes(t, *given[0], std::move(axes));
}

/// A tensor with axes of these extents along which it does not differ.
std::vector<Axis> axes_of(Translator& t, const Term& shape) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < shape.numbers->size(); ++i) {
    const auto extent = static_cast<std::int64_t>((*shape.numbers)[i]);
    if (!shape.extents_of.empty() && shape.extents_of[i]) axes.push_back(*shape.extents_of[i]);
    else axes.push_back(extent == 1 ? Axis{} : Axis{t.fresh(extent)});
  }
  return axes;
}

Term expand_of(Translator& t, const OnnxOperation&, Given given, std::int64_t) {
  if (!given[1]->numbers) return no_term(t, "its shape must be a constant, or follow from shapes");
  std::vector<Term> both = {*given[0], Term{}};
  both[1].axes = axes_of(t, *given[1]);
  std::vector<Axis> axes = t.broadcast(both);
  Term result = with_axes(t, *given[0], std::move(axes));
  if (result.numbers && t.emits()) result.value = t.value_of(*given[0]);
  if (element_count(t.extents(result)) != 1) result.numbers.reset();
  return result;
}

Term constant_of_shape(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  if (!given[0]->numbers) return no_term(t, "its shape must be a constant, or follow from shapes");
  const auto found = operation.attributes.find("value");
  const auto* tensor = found == operation.attributes.end() ? nullptr : std::get_if<OnnxTensor>(&found->second);
  if (tensor != nullptr && tensor->values.size() != 1) return no_term(t, "its value must be one number");
  Term result = t.numbers({tensor == nullptr ? 0.0 : tensor->values[0]}, tensor == nullptr ? Kind::real : tensor->element->kind);
  if (result.kind != Kind::real && result.kind != Kind::boolean) result.kind = Kind::i64;
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
  if (!t.emits()) return result;
  Value position = constant(t.g, 0);
  for (const int dim : t.axes.dims(result.axes[0])) {
    const Dim each{&t.g, t.name_of(dim)};
    position = position * extent(each) + index(each);
  }
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
  if (given.size() > 1 && given[1] != nullptr && (!given[1]->numbers || given[1]->numbers->size() != 1)) return no_term(t, "its diagonal must be a constant");
  const auto diagonal = given.size() > 1 && given[1] != nullptr ? static_cast<std::int64_t>(given[1]->numbers->front()) : 0;
  result.numbers.reset();
  if (!t.emits()) return result;
  const Names rows = t.names_of(result.axes[rank - 2]), columns = t.names_of(result.axes[rank - 1]);
  if (rows.size() != 1 || columns.size() != 1) return no_term(t, "an axis of the matrix is several dims in a row, or has one position");
  const Value distance = index({&t.g, columns[0]}) - index({&t.g, rows[0]}), x = t.value_of(*given[0]);
  const Value stays = is_upper ? distance >= diagonal : distance <= diagonal;
  result.value = select(stays, x, literal(&t.g, 0, result.kind, Here::current()));
  return result;
}

Term clip_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t opset) {
  Term result = *given[0];
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (given[i] == nullptr) continue;
    OnnxOperation bound = operation;
    bound.op = i == 1 ? "Max" : "Min";
    const std::array<const Term*, 2> both = {&result, given[i]};
    result = t.apply(bound, both, opset);
  }
  return result;
}

constexpr TermRule rules_of_shapes[] = {{"Cast", 1, 1, cast},
                                        {"Clip", 1, 3, clip_of},
                                        {"Concat", 1, 1 << 20, concat_of},
                                        {"Constant", 0, 0, constant_node},
                                        {"ConstantOfShape", 1, 1, constant_of_shape},
                                        {"Expand", 2, 2, expand_of},
                                        {"Gather", 2, 2, gather_of},
                                        {"Range", 3, 3, range_of},
                                        {"Reshape", 1, 2, reshape_of},
                                        {"Shape", 1, 1, shape_of},
                                        {"Slice", 1, 5, slice_of},
                                        {"Squeeze", 1, 2, squeeze_of},
                                        {"Transpose", 1, 1, transpose_of},
                                        {"Trilu", 1, 2, trilu_of},
                                        {"Unsqueeze", 1, 2, unsqueeze_of}};

}  // namespace

std::span<const TermRule> shape_rules() { return rules_of_shapes; }

}  // namespace attune
