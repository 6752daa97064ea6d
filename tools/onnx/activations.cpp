#include <algorithm>
#include <array>
#include <limits>

#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// Attributes of an operator of one operand, by name, and what it has in their place where they are not set.
class Attributes {
 public:
  explicit Attributes(const OnnxOperation& operation) : operation_(operation) {}
  double operator()(std::string_view name, double missing) const { return number_of(operation_, name, missing); }
  std::string text(std::string_view name) const { return text_of(operation_, name); }

 private:
  const OnnxOperation& operation_;
};

/// An elementwise function of a real with attributes; ONNX's formula in words of the language.
struct Activation {
  std::string_view op;
  Value (*value)(Value, const Attributes&) = nullptr;
  Kind gives = Kind::real;
};

Value clipped(Value x) { return maximum(minimum(x, 1), 0); }
Value is_infinite(Value x, const Attributes& of) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Value none = constant(*x.graph, false);
  return (of("detect_positive", 1) != 0 ? x == infinity : none) || (of("detect_negative", 1) != 0 ? x == -infinity : none);
}
Value selu(Value x, const Attributes& of) {
  return select(x > 0, x, of("alpha", 1.67326319217681884765625) * (exp(x) - 1)) * of("gamma", 1.05070102214813232421875);
}
Value shrunk(Value x, const Attributes& of) {
  const double bias = of("bias", 0), limit = of("lambd", 0.5);
  return select(x < -limit, x + bias, select(x > limit, x - bias, 0));
}

constexpr Activation activations[] = {
    {"Celu", [](Value x, const Attributes& of) { return maximum(x, 0) + minimum(of("alpha", 1) * (exp(x / of("alpha", 1)) - 1), 0); }},
    {"Elu", [](Value x, const Attributes& of) { return select(x < 0, of("alpha", 1) * (exp(x) - 1), x); }},
    {"Gelu", [](Value x, const Attributes& of) { return of.text("approximate") == "tanh" ? gelu_by_tanh(x) : gelu(x); }},
    {"HardSigmoid", [](Value x, const Attributes& of) { return clipped(of("alpha", 0.2) * x + of("beta", 0.5)); }},
    {"HardSwish", [](Value x, const Attributes&) { return x * clipped(x / 6 + 0.5); }},
    {"IsInf", is_infinite, Kind::boolean},
    {"LeakyRelu", [](Value x, const Attributes& of) { return select(x < 0, of("alpha", 0.01) * x, x); }},
    {"Mish", [](Value x, const Attributes&) { return x * tanh(softplus(x)); }},
    {"Selu", selu},
    {"Shrink", shrunk},
    {"Softplus", [](Value x, const Attributes&) { return softplus(x); }},
    {"Softsign", [](Value x, const Attributes&) { return x / (1 + abs(x)); }},
    {"Swish", [](Value x, const Attributes& of) { return x * sigmoid(of("alpha", 1) * x); }},
    {"ThresholdedRelu", [](Value x, const Attributes& of) { return select(x > of("alpha", 1), x, 0); }},
};

Term activation_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const Activation& row = *std::ranges::find(activations, std::string_view(operation.op), &Activation::op);
  Term result = *given[0];
  if (result.kind != Kind::real) return no_term(t, "its operand is no real");
  result.numbers.reset(), result.constant.clear(), result.extents_of.clear();
  result.kind = row.gives;
  result.is_index = result.is_weights = false;
  if (t.emits()) result.value = row.value(t.value_of(*given[0]), Attributes(operation));
  return result;
}

/// Of inference: what it is given.
Term dropout_of(Translator& t, const OnnxOperation&, Given given, std::int64_t) {
  const Term* training = given.size() > 2 ? given[2] : nullptr;
  if (training != nullptr && !(training->numbers && training->numbers->front() == 0))
    return no_term(t, "drops weights in training; training_mode must be false");
  return *given[0];
}

constexpr auto rules_of_activations = [] {
  std::array<TermRule, std::size(activations) + 1> rules;
  for (std::size_t i = 0; i < std::size(activations); ++i) rules[i] = {activations[i].op, 1, 1, activation_of};
  rules.back() = {"Dropout", 1, 3, dropout_of};
  return rules;
}();

}  // namespace

std::span<const TermRule> activation_rules() { return rules_of_activations; }

}  // namespace attune
