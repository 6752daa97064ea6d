/// What rules of the translator ask of an operation's operands.
#pragma once

#include "tools/onnx/translator.h"

namespace attune {

using Given = std::span<const Term* const>;

/// Nothing, and the problem.
Term no_term(Translator& t, std::string problem);
/// The integers of an operand, or of the attribute that older opsets have in its place; nothing where neither is there.
std::optional<std::vector<std::int64_t>> integers_at(Translator& t, const OnnxOperation& operation, Given given, std::size_t place,
                                                     std::string_view attribute);
/// An axis counted from the end where it is negative; 0 and a problem where there is none.
std::size_t place_of(Translator& t, std::int64_t axis, std::size_t rank);
/// Whether a value has all of the dims, over which it is summed or normalised.
bool has_all(Translator& t, const Term& term, const Axis& axis);
/// Positions start, start + step .. of an axis; what they are taken apart into further is split off. A problem where `from` is several dims in a row.
struct Taken {
  std::int64_t start = 0, count = 0, step = 1;
  std::optional<std::size_t> number = {};  ///< of a Slice's starts and ends, if it has some for the axis
};
Value sliced(Translator& t, Value x, const Axis& from, const Taken& taken, const Axis& into);
/// The number of a position along an axis, which may be several dims in a row.
Value position_along(Translator& t, const Axis& axis);
/// The sum over the axis of the products. A problem where an operand was expanded along it.
std::optional<Value> product_over(Translator& t, const Term& a, const Term& b, const Axis& summed);
/// x, the same at each position along a dim that it lacks.
Value along(Value x, Dim dim);
/// Numbers that are known, along one axis, whatever their number is.
Term along_one_axis(Translator& t, std::vector<double> numbers, Kind kind);

}  // namespace attune
