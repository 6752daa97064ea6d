#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// Integers lose the bits that the type has no place for.
Term converted(Translator& t, Given given, Kind kind, Width width) {
  Term result = *given[0];
  result.kind = kind;
  result.width = width;
  if (kind == Kind::i64 && given[0]->kind == Kind::i64 && width.bits != 0) {
    result.constant.clear();
    if (result.numbers)
      for (double& x : *result.numbers) x = wrapped(x, width);
    else if (t.emits()) result.value = wrapped(t.value_of(*given[0]), width);
    return result;
  }
  if (result.kind == given[0]->kind) return result;
  if (result.numbers)
    for (double& x : *result.numbers) x = result.kind == Kind::boolean ? x != 0 : result.kind == Kind::i64 ? std::trunc(x) : x;
  if (!result.constant.empty()) result.constant += kind == Kind::boolean ? ":boolean" : kind == Kind::i64 ? ":i64" : ":real";
  if (!t.emits() || (result.numbers && result.numbers->size() != 1)) return result;
  const Value x = t.value_of(*given[0]);
  result.value = result.kind == Kind::real  ? to_real(x)
                 : result.kind == Kind::i64 ? to_i64(x)
                                            : x != (given[0]->kind == Kind::real ? literal(&t.g, 0, Kind::real, Here::current()) : constant(t.g, 0));
  return result;
}

Term cast(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const OnnxElement* element = find_element(static_cast<int>(std::clamp(number_of(operation, "to", 0), -1., 1e6)));
  if (element == nullptr) return no_term(t, "the type to convert to is not supported");
  return converted(t, given, element->kind == Kind::real || element->kind == Kind::boolean ? element->kind : Kind::i64, width_of(*element));
}

Term cast_like(Translator& t, const OnnxOperation&, Given given, std::int64_t) { return converted(t, given, given[1]->kind, given[1]->width); }

/// Its bounds are inputs; before opset 11 they were attributes.
Term clip_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t opset) {
  Term result = *given[0];
  constexpr std::int64_t first_with_inputs = 11;
  if (opset < first_with_inputs) {
    for (const auto& [op, attribute] : {std::pair{"Max", "min"}, {"Min", "max"}}) {
      if (!operation.attributes.contains(attribute)) continue;
      OnnxOperation bound = operation;
      bound.op = op;
      const Term limit = t.numbers({number_of(operation, attribute, 0)}, Kind::real);
      result = t.apply(bound, std::array{&std::as_const(result), &limit}, opset);
    }
    return result;
  }
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (given[i] == nullptr) continue;
    OnnxOperation bound = operation;
    bound.op = i == 1 ? "Max" : "Min";
    const std::array<const Term*, 2> both = {&result, given[i]};
    result = t.apply(bound, both, opset);
  }
  return result;
}

constexpr TermRule rules_of_casts[] = {{"Cast", 1, 1, cast}, {"CastLike", 2, 2, cast_like}, {"Clip", 1, 3, clip_of}};

}  // namespace

std::span<const TermRule> cast_rules() { return rules_of_casts; }

}  // namespace attune
