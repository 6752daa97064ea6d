#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tools/onnx/translator.h"

namespace attune {
namespace {

using Numbers = std::span<const double>;
using Values = std::span<const Value>;

/// An elementwise operator on numbers that are known, and on values; the kind of its result.
enum class Gives { first, same, real, boolean };
struct Pointwise {
  std::string_view op;
  int least = 1, most = 1;
  Gives gives = Gives::same;
  double (*number)(Numbers) = nullptr;
  Value (*value)(Values) = nullptr;
};

bool has_reals(Value x) { return kind_of(x) == Kind::real; }
Value as_real(Value x) { return has_reals(x) ? x : to_real(x); }

/// ONNX divides integers towards zero.
Value quotient(Values x) {
  if (has_reals(x[0])) return x[0] / x[1];
  const Value down = floor_div(x[0], x[1]);
  const Value is_negative = (x[0] < 0 && x[1] > 0) || (x[0] > 0 && x[1] < 0);
  return select(is_negative && mod(x[0], x[1]) != 0, down + 1, down);
}

bool is_hidden(Value x) {
  const auto* constant = std::get_if<Constant>(&x.graph->node(x.id).op);
  return constant != nullptr && constant->value == -HUGE_VAL;
}
/// A choice between scores and minus infinity is a mask, which kernels look into; of dims that the scores lack it is none.
Value chosen(Values x) {
  const auto hides = [&](Value scores) { return dims_of(x[0]).without(dims_of(scores)).empty(); };
  if (is_hidden(x[2]) && hides(x[1])) return mask(x[1], x[0]);
  if (is_hidden(x[1]) && hides(x[2])) return mask(x[2], !x[0]);
  return select(x[0], x[1], x[2]);
}

/// A sum with what is 0 where a key is seen and minus infinity elsewhere is a mask, too.
Value sum_of(Values x) {
  for (const std::size_t i : {0, 1}) {
    const Graph& g = *x[i].graph;
    const Node& chooses = g.node(x[i].id);
    if (!std::holds_alternative<Select>(chooses.op) || kind_of(x[i]) != Kind::real) continue;
    const auto operand = [&](int place) { return Value{x[i].graph, chooses.operands()[static_cast<std::size_t>(place)]}; };
    const auto is_zero = [&](Value y) {
      const auto* constant = std::get_if<Constant>(&g.node(y.id).op);
      return constant != nullptr && constant->value == 0;
    };
    const Value condition = operand(0), scores = x[1 - i];
    if (!dims_of(condition).without(dims_of(scores)).empty()) continue;
    if (is_zero(operand(1)) && is_hidden(operand(2))) return mask(scores, condition);
    if (is_hidden(operand(1)) && is_zero(operand(2))) return mask(scores, !condition);
  }
  return x[0] + x[1];
}

template <class Op>
Value folded_over(Values x, Op op) {
  Value result = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) result = op(result, x[i]);
  return result;
}

/// ONNX gives a power the kind of its base.
Value power(Values x) {
  if (has_reals(x[0])) return pow(x[0], as_real(x[1]));
  const auto* known = std::get_if<Constant>(&x[1].graph->node(x[1].id).op);
  constexpr double most = 62;  // the powers of 2 that an i64 holds
  if (known == nullptr || !(known->value >= 0 && known->value <= most) || known->value != std::floor(known->value))
    return to_i64(round(pow(as_real(x[0]), as_real(x[1]))));
  Value result = x[0] * 0 + 1, square = x[0];
  for (auto rest = static_cast<std::uint64_t>(known->value); rest > 0; rest /= 2) {
    if (rest % 2 != 0) result = result * square;
    if (rest > 1) square = square * square;
  }
  return result;
}

Value sign_of(Values x) {
  const auto number = [&](double value) { return literal(x[0].graph, value, kind_of(x[0]), Here::current()); };
  return select(x[0] > 0, number(1), select(x[0] < 0, number(-1), x[0]));
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

constexpr Pointwise rows[] = {
    {"Abs", 1, 1, Gives::same, [](Numbers x) { return std::abs(x[0]); }, [](Values x) { return abs(x[0]); }},
    {"Add", 2, 2, Gives::same, [](Numbers x) { return x[0] + x[1]; }, sum_of},
    {"And", 2, 2, Gives::boolean, [](Numbers x) { return x[0] * x[1]; }, [](Values x) { return x[0] && x[1]; }},
    {"BitwiseAnd", 2, 2, Gives::same, [](Numbers x) { return bit_and(x[0], x[1]); }, [](Values x) { return bit_and(x[0], x[1]); }},
    {"BitwiseNot", 1, 1, Gives::same, [](Numbers x) { return -1 - x[0]; }, [](Values x) { return -1 - x[0]; }},
    {"BitwiseOr", 2, 2, Gives::same, [](Numbers x) { return bit_or(x[0], x[1]); }, [](Values x) { return bit_or(x[0], x[1]); }},
    {"BitwiseXor", 2, 2, Gives::same, [](Numbers x) { return bit_xor(x[0], x[1]); }, [](Values x) { return bit_xor(x[0], x[1]); }},
    {"Ceil", 1, 1, Gives::real, [](Numbers x) { return std::ceil(x[0]); }, [](Values x) { return ceil(x[0]); }},
    {"Cos", 1, 1, Gives::real, [](Numbers x) { return std::cos(x[0]); }, [](Values x) { return cos(x[0]); }},
    {"Cosh", 1, 1, Gives::real, [](Numbers x) { return std::cosh(x[0]); }, [](Values x) { return 0.5 * (exp(x[0]) + exp(-x[0])); }},
    {"Div", 2, 2, Gives::same, nullptr, quotient},
    {"Equal", 2, 2, Gives::boolean, [](Numbers x) { return double(x[0] == x[1]); },
     [](Values x) { return kind_of(x[0]) == Kind::boolean ? (x[0] && x[1]) || (!x[0] && !x[1]) : x[0] == x[1]; }},
    {"Erf", 1, 1, Gives::real, [](Numbers x) { return std::erf(x[0]); }, [](Values x) { return erf(x[0]); }},
    {"Exp", 1, 1, Gives::real, [](Numbers x) { return std::exp(x[0]); }, [](Values x) { return exp(x[0]); }},
    {"Floor", 1, 1, Gives::real, [](Numbers x) { return std::floor(x[0]); }, [](Values x) { return floor(x[0]); }},
    {"Greater", 2, 2, Gives::boolean, [](Numbers x) { return double(x[0] > x[1]); }, [](Values x) { return x[0] > x[1]; }},
    {"GreaterOrEqual", 2, 2, Gives::boolean, [](Numbers x) { return double(x[0] >= x[1]); }, [](Values x) { return x[0] >= x[1]; }},
    {"Identity", 1, 1, Gives::same, [](Numbers x) { return x[0]; }, [](Values x) { return x[0]; }},
    {"IsNaN", 1, 1, Gives::boolean, [](Numbers x) { return double(std::isnan(x[0])); }, [](Values x) { return x[0] != x[0]; }},
    {"Less", 2, 2, Gives::boolean, [](Numbers x) { return double(x[0] < x[1]); }, [](Values x) { return x[0] < x[1]; }},
    {"LessOrEqual", 2, 2, Gives::boolean, [](Numbers x) { return double(x[0] <= x[1]); }, [](Values x) { return x[0] <= x[1]; }},
    {"Log", 1, 1, Gives::real, [](Numbers x) { return std::log(x[0]); }, [](Values x) { return log(x[0]); }},
    {"Max", 1, max_operands, Gives::same, [](Numbers x) { return *std::ranges::max_element(x); },
     [](Values x) { return folded_over(x, [](Value a, Value b) { return maximum(a, b); }); }},
    {"Mean", 1, max_operands, Gives::real, [](Numbers x) { return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size()); },
     [](Values x) { return folded_over(x, [](Value a, Value b) { return a + b; }) / static_cast<double>(x.size()); }},
    {"Min", 1, max_operands, Gives::same, [](Numbers x) { return *std::ranges::min_element(x); },
     [](Values x) { return folded_over(x, [](Value a, Value b) { return minimum(a, b); }); }},
    {"Mod", 2, 2, Gives::same, [](Numbers x) { return x[0] - std::floor(x[0] / x[1]) * x[1]; }, [](Values x) { return mod(x[0], x[1]); }},
    {"Mul", 2, 2, Gives::same, [](Numbers x) { return x[0] * x[1]; }, [](Values x) { return x[0] * x[1]; }},
    {"Neg", 1, 1, Gives::same, [](Numbers x) { return -x[0]; }, [](Values x) { return -x[0]; }},
    {"Not", 1, 1, Gives::boolean, [](Numbers x) { return double(x[0] == 0); }, [](Values x) { return !x[0]; }},
    {"Or", 2, 2, Gives::boolean, [](Numbers x) { return std::max(x[0], x[1]); }, [](Values x) { return x[0] || x[1]; }},
    {"PRelu", 2, 2, Gives::real, [](Numbers x) { return x[0] < 0 ? x[0] * x[1] : x[0]; },
     [](Values x) { return select(x[0] < 0, x[0] * x[1], x[0]); }},
    {"Pow", 2, 2, Gives::first, [](Numbers x) { return std::pow(x[0], x[1]); }, power},
    {"Reciprocal", 1, 1, Gives::real, [](Numbers x) { return 1 / x[0]; }, [](Values x) { return 1 / x[0]; }},
    {"Relu", 1, 1, Gives::same, [](Numbers x) { return std::max(x[0], 0.0); }, [](Values x) { return maximum(x[0], 0); }},
    {"Round", 1, 1, Gives::real, [](Numbers x) { return std::nearbyint(x[0]); }, [](Values x) { return round(x[0]); }},
    {"Sigmoid", 1, 1, Gives::real, [](Numbers x) { return 1 / (1 + std::exp(-x[0])); }, [](Values x) { return sigmoid(x[0]); }},
    {"Sign", 1, 1, Gives::same, [](Numbers x) { return sign(x[0]); }, sign_of},
    {"Sin", 1, 1, Gives::real, [](Numbers x) { return std::sin(x[0]); }, [](Values x) { return sin(x[0]); }},
    {"Sqrt", 1, 1, Gives::real, [](Numbers x) { return std::sqrt(x[0]); }, [](Values x) { return sqrt(x[0]); }},
    {"Sub", 2, 2, Gives::same, [](Numbers x) { return x[0] - x[1]; }, [](Values x) { return x[0] - x[1]; }},
    {"Sum", 1, max_operands, Gives::same, [](Numbers x) { return std::accumulate(x.begin(), x.end(), 0.0); },
     [](Values x) { return folded_over(x, [](Value a, Value b) { return a + b; }); }},
    {"Tan", 1, 1, Gives::real, [](Numbers x) { return std::tan(x[0]); }, [](Values x) { return sin(x[0]) / cos(x[0]); }},
    {"Tanh", 1, 1, Gives::real, [](Numbers x) { return std::tanh(x[0]); }, [](Values x) { return tanh(x[0]); }},
    {"Where", 3, 3, Gives::same, [](Numbers x) { return x[0] != 0 ? x[1] : x[2]; }, chosen},
    {"Xor", 2, 2, Gives::boolean, [](Numbers x) { return double(x[0] != x[1]); }, [](Values x) { return (x[0] || x[1]) && !(x[0] && x[1]); }},
};

/// Whether the operator may give integers that its operands' type does not hold.
bool may_leave_width(std::string_view op) {
  constexpr std::string_view ops[] = {"Abs", "Add", "BitwiseNot", "Div", "Mul", "Neg", "Pow", "Sub", "Sum"};
  return std::ranges::find(ops, op) != std::end(ops);
}

/// The numbers of the result, if those of all operands are known and of one shape or single.
std::optional<std::vector<double>> folded(Translator& t, const Pointwise& row, const std::vector<Term>& operands, Kind kind) {
  std::size_t count = 1;
  std::vector<std::int64_t> extents;  // of those that are not single
  for (const Term& operand : operands) {
    if (!operand.numbers || operand.numbers->empty()) return {};
    if (operand.numbers->size() == 1) continue;
    if (!extents.empty() && t.extents(operand) != extents) return {};
    extents = t.extents(operand);
    count = operand.numbers->size();
  }
  std::vector<double> result(count), at(operands.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t n = 0; n < operands.size(); ++n) at[n] = (*operands[n].numbers)[operands[n].numbers->size() == 1 ? 0 : i];
    if (row.number != nullptr) result[i] = kind == Kind::i64 ? std::trunc(row.number(at)) : row.number(at);
    else if (kind == Kind::real) result[i] = at[0] / at[1];
    else if (at[1] == 0) return t.fail("an integer is divided by 0"), result;
    else result[i] = std::trunc(at[0] / at[1]);
  }
  return result;
}

Term pointwise(Translator& t, const OnnxOperation& operation, std::span<const Term* const> given, std::int64_t) {
  const Pointwise& row = *std::ranges::find(rows, std::string_view(operation.op), &Pointwise::op);
  std::vector<Term> operands;
  for (const Term* operand : given) {
    if (operand == nullptr) return t.fail("an input is left out"), Term{};
    operands.push_back(*operand);
  }
  Term result;
  result.kind = row.gives == Gives::first  ? operands.front().kind
                : row.gives == Gives::same ? operands.back().kind
                : row.gives == Gives::real ? Kind::real
                                           : Kind::boolean;
  result.axes = t.broadcast(operands);
  result.is_index =
      std::ranges::all_of(operands, [](const Term& operand) { return operand.is_index || (operand.numbers && operand.numbers->size() == 1); });
  if (result.kind == Kind::i64) result.width = (row.gives == Gives::first ? operands.front() : operands.back()).width;
  result.numbers = folded(t, row, operands, result.kind);
  result.follows_extents = result.numbers && std::ranges::any_of(operands, &Term::follows_extents);
  if (result.numbers)
    for (double& x : *result.numbers) x = wrapped(x, result.width);
  if (operation.op == "Identity")
    result.extents_of = operands[0].extents_of, result.constant = operands[0].constant, result.is_weights = operands[0].is_weights;
  if (operation.op == "IsNaN" && operands[0].is_weights) result.numbers = {0};
  if (!t.emits() || !t.problem().empty() || (result.numbers && (result.numbers->size() != 1 || operation.op == "IsNaN"))) return result;
  std::vector<Value> values;
  for (const Term& operand : operands) values.push_back(t.value_of(operand));
  if (const Term& condition = operands[0]; operation.op == "Where" && condition.numbers && condition.numbers->size() == 1) {
    const bool is_first = condition.numbers->front() != 0;
    result.value = values[is_first ? 1 : 2];
    if (dims_of(values[is_first ? 2 : 1]).without(dims_of(*result.value)).empty()) return result;
  }
  result.value = row.value(values);
  if (may_leave_width(operation.op)) result.value = wrapped(*result.value, result.width);
  return result;
}

/// The remainder has the sign of the divisor, or with `fmod` of what is divided, as a division towards zero leaves it.
Term mod_of(Translator& t, const OnnxOperation& operation, std::span<const Term* const> given, std::int64_t opset) {
  if (given[0]->kind == Kind::real) return t.fail("takes remainders of reals; integers are right"), Term{};
  if (number_of(operation, "fmod", 0) == 0) return pointwise(t, operation, given, opset);
  const auto of = [&](std::string_view op, const Term& a, const Term& b) {
    OnnxOperation part = operation;
    part.op = op;
    return t.apply(part, std::array{&a, &b}, opset);
  };
  return of("Sub", *given[0], of("Mul", of("Div", *given[0], *given[1]), *given[1]));
}

constexpr auto term_rules = [] {
  std::array<TermRule, std::size(rows)> rules;
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i] = {rows[i].op, rows[i].least, rows[i].most, rows[i].op == "Mod" ? mod_of : pointwise};
  return rules;
}();

}  // namespace

std::span<const TermRule> pointwise_rules() { return term_rules; }

}  // namespace attune
