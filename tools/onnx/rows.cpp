#include <algorithm>
#include <array>
#include <cmath>

#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// A reduction: what becomes of each element, how many are brought together, and what becomes of that.
struct Reduction {
  std::string_view op;
  Value (*element)(Value) = nullptr;  ///< nullptr: as it is
  enum class By { sum, mean, maximum, log_sum_exp } by = By::sum;
  Value (*result)(Value) = nullptr;
};

Value squared(Value x) { return x * x; }
/// The greatest first becomes the least first, and back; -x of the least integer would be that integer.
Value turned(Value x) { return kind_of(x) == Kind::real ? -x : -1 - x; }
constexpr auto logarithm = [](Value x) { return log(x); };

constexpr Reduction reductions[] = {
    {"ReduceL1", [](Value x) { return abs(x); }},
    {"ReduceL2", squared, Reduction::By::sum, [](Value x) { return sqrt(x); }},
    {"ReduceLogSum", nullptr, Reduction::By::sum, logarithm},
    {"ReduceLogSumExp", nullptr, Reduction::By::log_sum_exp},
    {"ReduceMax", nullptr, Reduction::By::maximum},
    {"ReduceMean", nullptr, Reduction::By::mean},
    {"ReduceMin", turned, Reduction::By::maximum, turned},
    {"ReduceSum"},
    {"ReduceSumSquare", squared},
};

/// ln sum e^x over several dims, from the greatest; -inf where all are.
Value joint_log_sum_exp(Value x, const Names& over) {
  const Value greatest = call(ReduceMax{over}, {x}, Here::current()), from = select(greatest > -HUGE_VAL, greatest, 0.0);
  return from + log(call(ReduceSum{over}, {exp(x - from)}, Here::current()));
}

/// x over the dims; those that it lacks, as it was expanded along them, multiply a sum.
Value reduced(Translator& t, const Reduction& row, Value x, const Names& over) {
  const Names lacking = over.without(dims_of(x)), own = over.without(lacking);
  Value times = constant(t.g, 1);
  for (const Name dim : lacking) times = times * extent(Dim{&t.g, dim});
  if (row.element != nullptr) x = row.element(x);
  if (row.by == Reduction::By::maximum && !own.empty()) x = call(ReduceMax{own}, {x}, Here::current());
  if (row.by == Reduction::By::mean && !own.empty()) x = call(Mean{own}, {x}, Here::current());
  if (row.by == Reduction::By::sum && !own.empty()) x = call(ReduceSum{own}, {x}, Here::current());
  if (row.by == Reduction::By::sum && !lacking.empty()) x = x * (kind_of(x) == Kind::real ? to_real(times) : times);
  if (row.by == Reduction::By::log_sum_exp) {
    if (own.size() == 1) x = call(LogSumExp{own[0]}, {x}, Here::current());
    if (own.size() > 1) x = joint_log_sum_exp(x, own);
    if (!lacking.empty()) x = x + log(to_real(times));
  }
  return row.result == nullptr ? x : row.result(x);
}

Term reduction_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const Reduction& row = *std::ranges::find(reductions, std::string_view(operation.op), &Reduction::op);
  const Term& x = *given[0];
  const auto places = integers_at(t, operation, given, 1, "axes");
  const bool is_of_all = (!places || places->empty()) && number_of(operation, "noop_with_empty_axes", 0) == 0;
  std::vector<bool> goes(x.axes.size(), is_of_all);
  for (const std::int64_t place : places.value_or(std::vector<std::int64_t>())) {
    const std::size_t gone = place_of(t, place, x.axes.size());
    if (!t.problem().empty()) return {};
    goes[gone] = true;
  }
  Term result{x.kind, {}, std::nullopt};
  Axis over;
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    if (!goes[i]) result.axes.push_back(x.axes[i]);
    else if (number_of(operation, "keepdims", 1) != 0) result.axes.emplace_back();
    if (goes[i]) over.insert(over.end(), x.axes[i].begin(), x.axes[i].end());
  }
  if (row.by != Reduction::By::maximum && row.by != Reduction::By::sum && x.kind != Kind::real) return no_term(t, "its operand is no real");
  if (t.emits() && t.problem().empty()) result.value = reduced(t, row, t.value_of(x), t.names_of(over));
  return result;
}

/// The only dim of an axis that the value has, or nothing and a problem: an operator that goes along a row needs one.
std::optional<Dim> row_dim(Translator& t, const Axis& axis, Value value) {
  const Names names = t.names_of(axis);
  if (names.size() == 1 && dims_of(value).has(names[0])) return Dim{&t.g, names[0]};
  t.fail("runs along an axis that is several dims in a row, has one position, or along which its operand was expanded");
  return {};
}

Term log_softmax_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t opset) {
  Term result = *given[0];
  const std::size_t place = place_of(t, integer_of(number_of(operation, "axis", opset < 13 ? 1 : -1)), result.axes.size());
  if (!t.problem().empty()) return {};
  if (opset < 13 && place + 1 != result.axes.size()) return no_term(t, "before opset 13 it runs over all axes from `axis` on; the last axis alone is supported");
  result.numbers.reset();
  if (!t.emits()) return result;
  const Value x = t.value_of(*given[0]);
  if (const std::optional<Dim> dim = row_dim(t, result.axes[place], x)) result.value = x - log_sum_exp(x, *dim);
  return result;
}

Term cumulative_sum_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  Term result = *given[0];
  if (!given[1]->numbers || given[1]->numbers->size() != 1) return no_term(t, "its axis must be a constant");
  const std::size_t place = place_of(t, integer_of(given[1]->numbers->front()), result.axes.size());
  if (!t.problem().empty()) return {};
  const bool is_exclusive = number_of(operation, "exclusive", 0) != 0, is_reverse = number_of(operation, "reverse", 0) != 0;
  result.numbers.reset(), result.constant.clear(), result.extents_of.clear();
  result.is_index = false;
  if (!t.emits()) return result;
  const Value x = t.value_of(*given[0]);
  const std::optional<Dim> dim = row_dim(t, result.axes[place], x);
  if (dim) result.value = is_reverse ? reverse_cumulative_sum(x, *dim, is_exclusive) : cumulative_sum(x, *dim, is_exclusive);
  return result;
}

/// The greatest or least elements along an axis, and their positions; without `sorted` in any order, here in that of the positions.
std::vector<Term> top_k_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const Term& x = *given[0];
  const std::size_t place = place_of(t, integer_of(number_of(operation, "axis", -1)), x.axes.size());
  if (!given[1]->numbers || given[1]->numbers->size() != 1) t.fail("its count must be a constant");
  if (!t.problem().empty()) return {};
  const std::int64_t count = integer_of(given[1]->numbers->front()), length = t.axes.extent(x.axes[place]);
  if (count < 1 || count > length)
    return t.fail("takes " + std::to_string(count) + " of " + std::to_string(length) + " elements"), std::vector<Term>();
  Term values{x.kind, x.axes, std::nullopt}, positions{Kind::i64, x.axes, std::nullopt};
  if (!t.emits()) t.axes.keep(x.axes[place]);
  values.axes[place] = positions.axes[place] = {t.fresh(count, {}, AxisTable::Bound::value)};
  if (!t.emits()) return {values, positions};
  const Value of = t.value_of(x);
  const std::optional<Dim> dim = row_dim(t, x.axes[place], of);
  const Names into = t.names_of(values.axes[place]);
  if (!dim) return {};
  if (into.size() != 1) return t.fail("what it takes is reshaped into several axes"), std::vector<Term>();
  const Value ordered = number_of(operation, "largest", 1) != 0 ? of : turned(of);
  const Dim taken = t.g.dim(into[0], count);
  positions.value =
      number_of(operation, "sorted", 1) != 0 ? sorted_positions(ordered, *dim, count, taken) : top_k_positions(ordered, *dim, count, taken);
  values.value = gather(of, *positions.value, *dim);
  return {values, positions};
}

constexpr auto rules_of_rows = [] {
  std::array<TermRule, std::size(reductions) + 3> rules;
  for (std::size_t i = 0; i < std::size(reductions); ++i) rules[i] = {reductions[i].op, 1, 2, reduction_of};
  rules[std::size(reductions)] = {"CumSum", 2, 2, cumulative_sum_of};
  rules[std::size(reductions) + 1] = {"LogSoftmax", 1, 1, log_softmax_of};
  rules[std::size(reductions) + 2] = {"TopK", 2, 2, nullptr, top_k_of};
  return rules;
}();

}  // namespace

std::span<const TermRule> row_rules() { return rules_of_rows; }

}  // namespace attune
