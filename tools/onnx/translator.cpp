#include "tools/onnx/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "codegen/dialect/identifier.h"
#include "tools/onnx/position_mask.h"

namespace attune {
namespace {

/// The rule of an operator of the domain without a name; nullptr if there is none.
const TermRule* rule_of(const OnnxOperation& operation) {
  if (!operation.domain.empty() && operation.domain != "ai.onnx") return nullptr;
  for (const std::span<const TermRule> rules :
       {activation_rules(), cast_rules(), einsum_rules(), pointwise_rules(), product_rules(), row_rules(), selection_rules(), shape_rules(), split_rules()})
    for (const TermRule& rule : rules)
      if (rule.op == operation.op) return &rule;
  return nullptr;
}

/// All of a term's dims, for a sentence about one that stands there twice.
bool has_twice(const AxisTable& axes, const Term& term) {
  Axis dims = axes.dims(term.axes);
  std::ranges::sort(dims);
  return std::ranges::adjacent_find(dims) != dims.end();
}

/// A value that is made of positions alone, with those along another dim, which need not be as many.
Value along_other(Value x, Name from, Name to) {
  if (!dims_of(x).has(from)) return x;
  const Node node = x.graph->node(x.id);
  if (std::holds_alternative<Index>(node.op)) return index({x.graph, to});
  std::vector<Value> operands;
  for (const int operand : node.operands()) operands.push_back(along_other({x.graph, operand}, from, to));
  return std::visit([&](const auto& op) { return call_in(x.graph, op, std::span<const Value>(operands), Here::current()); }, node.op);
}

/// The kind that the language calculates with in place of an element's.
Kind calculated(Kind kind) { return kind == Kind::real || kind == Kind::boolean ? kind : Kind::i64; }

}  // namespace

void Translator::translate(const std::function<void(Translator&)>& walk) {
  for (const bool emits : {false, true}) {
    if (!problem_.empty()) return;
    emits_ = emits;
    next_fresh_ = next_decision_ = scope_ = 0;
    for (const Axis& axis : summed) axes.suggest(axis, "depth");
    if (emits) unify_parts(), axes.name_all();
    walk(*this);
  }
}

void Translator::unify_parts() {
  for (const Joined& one : joined)
    for (const Joined& other : joined) {
      const auto same_extent = [&](const Axis& a, const Axis& b) { return axes.extent(a) == axes.extent(b); };
      if (axes.dims(one.whole) != axes.dims(other.whole) || !std::ranges::equal(one.parts, other.parts, same_extent)) continue;
      for (std::size_t i = 0; i < one.parts.size(); ++i) axes.unify(one.parts[i], other.parts[i], AxisTable::Ones::one);
    }
}

void Translator::fail(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

int Translator::fresh(std::int64_t extent, std::string_view name, AxisTable::Bound bound) {
  if (!emits_) fresh_.push_back(axes.add(extent, name, bound));
  return fresh_.at(next_fresh_++);
}

bool Translator::decided(bool now) {
  if (!emits_) decisions_.push_back(now);
  return decisions_.at(next_decision_++);
}

std::vector<std::int64_t> Translator::extents(const Term& term) const {
  std::vector<std::int64_t> result;
  for (const Axis& axis : term.axes) result.push_back(axes.extent(axis));
  return result;
}

Name Translator::keep(std::string_view name) {
  std::string kept;
  for (const char c : name.size() > 40 ? name.substr(name.size() - 40) : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter || !kept.ends_with('_')) kept += is_letter ? c : '_';
  }
  while (kept.size() > 1 && kept[0] == '_') kept.erase(0, 1);
  if (kept.empty() || (kept[0] >= '0' && kept[0] <= '9') || !name_problem("", kept).empty()) kept = "x_" + kept.substr(0, 38);
  return names_.emplace_back(std::move(kept));
}

Name Translator::label_of(std::string_view name) {
  const auto is_taken = [&](Name label) {
    return std::ranges::any_of(g.nodes(), [&](const Node& node) {
      const auto* input = std::get_if<Input>(&node.op);
      return input != nullptr && input->label == label;
    });
  };
  Name label = keep(name);
  for (int again = 2; is_taken(label); ++again) label = keep(fmt::format("{}_{}", name, again));
  return label;
}

Name Translator::name_of(int dim) {
  const Name name = keep(axes.name(dim));
  return g.dim(name, axes.is_bound(dim) ? 0 : axes.extent(dim)).name;
}

Names Translator::names_of(const Axis& axis) {
  Names names;
  for (const int dim : axes.dims(axis)) names.add(name_of(dim));
  return names;
}

Term Translator::numbers(std::vector<double> numbers, Kind kind) {
  Term term{kind, {}, std::move(numbers)};
  if (term.numbers->size() != 1) term.axes.push_back({fresh(static_cast<std::int64_t>(term.numbers->size()), {}, AxisTable::Bound::input)});
  return term;
}

Term Translator::constant(const std::string& name, const OnnxTensor& tensor) {
  if (!tensor.problem.empty()) fail(tensor.problem);
  Term term{calculated(tensor.element->kind), {}, tensor.values};
  term.constant = fmt::format("{}#{}", name, scope_);
  term.width = width_of(*tensor.element);
  for (const std::int64_t extent : tensor.extents) {
    term.axes.emplace_back();
    if (extent != 1) term.axes.back().push_back(fresh(extent, {}, AxisTable::Bound::input));
  }
  return term;
}

/// Equal numbers are one, and two that stand where a mask of positions says follow from those.
std::optional<Value> Translator::of_positions(const Term& term) {
  const std::vector<double>& numbers = *term.numbers;
  if (numbers.empty() || std::ssize(numbers) != element_count(extents(term))) return {};
  const double first = numbers.front();
  const auto valued = [&](double x) { return term.kind == Kind::boolean ? attune::constant(g, x != 0) : literal(&g, x, term.kind, Here::current()); };
  const auto other = std::ranges::find_if(numbers, [&](double x) { return x != first; });
  if (other == numbers.end()) return valued(first);
  const Axis dims = axes.dims(term.axes);
  if (dims.size() != 2) return {};
  const Dim rows{&g, name_of(dims[0])}, columns{&g, name_of(dims[1])};
  for (const auto& [shown, hidden] : {std::pair{first, *other}, {*other, first}}) {
    const std::optional<PositionMask> mask = position_mask(numbers, axes.extent(dims[0]), axes.extent(dims[1]), shown, hidden);
    if (!mask) continue;
    const Value is_shown = value_of_mask(*mask, rows, columns);
    if (term.kind == Kind::boolean) return shown != 0 ? is_shown : !is_shown;
    return select(is_shown, valued(shown), valued(hidden));
  }
  return {};
}

Value Translator::value_of(const Term& term) {
  if (term.value) return *term.value;
  if (!term.numbers) return fail("internal: a term has no value"), attune::constant(g, 0);
  const std::vector<double>& numbers = *term.numbers;
  if (term.extents_of.size() == 1 && term.extents_of[0]) return extent_along(*term.extents_of[0]);
  if (numbers.size() == 1) return literal(&g, numbers[0], term.kind, Here::current());
  if (const std::optional<Value> value = of_positions(term)) return *value;
  const std::string name = term.constant.empty() ? fmt::format("constant_{}", constant_values_.size()) : term.constant;
  if (const auto known = constant_values_.find(name); known != constant_values_.end()) return known->second;
  // a matrix of 0 and minus infinity is a mask whose truth values are the input: kernels leave out the blocks that it hides
  const bool hides = term.kind == Kind::real && std::ranges::all_of(numbers, [](double x) { return x == 0 || x == -HUGE_VAL; });
  Array array;
  array.type = {hides ? Kind::boolean : term.kind, names_of(axes.dims(term.axes))};
  for (const int dim : axes.dims(term.axes)) array.extents.push_back(axes.extent(dim));
  array.data = numbers;
  if (hides)
    for (double& x : array.data) x = x == 0;
  const Name label = label_of(std::string_view(name).substr(0, name.find('#')));
  Value value = g.input(label, array.type.dims, array.type.kind, Here::current());
  if (hides) value = select(value, 0.0, literal(&g, -HUGE_VAL, Kind::real, Here::current()));
  constants_[std::string(label)] = std::move(array);
  return constant_values_.emplace(name, value).first->second;
}

Value Translator::extent_along(const Axis& axis) {
  Value product = attune::constant(g, 1);
  for (const int dim : axes.dims(axis)) product = product * extent(g.dim(name_of(dim)));
  return product;
}

void Translator::take_only(Term& term, const Axis& axis) {
  if (!emits_ || !problem_.empty()) return;
  for (const int dim : axes.dims(axis)) {
    const Value x = value_of(term);
    if (const Name name = name_of(dim); dims_of(x).has(name)) term.value = gather(x, attune::constant(g, 0), {&g, name});
  }
}

bool Translator::rename_if(bool condition, Term& operand, Axis& axis) {
  if (!decided(condition)) return false;
  const int other = fresh(axes.extent(axis), {}, operand.is_index ? AxisTable::Bound::no : AxisTable::Bound::input);
  if (emits_) {
    const Axis from = axes.dims(axis), to = axes.dims(Axis{other});
    if (from.size() != 1 || to.size() != 1) fail("an axis that is several dims in a row stands for two roles of the same tokens; two inputs are right");
    else if (operand.is_index) operand.value = along_other(value_of(operand), name_of(from[0]), name_of(to[0]));
    else operand.value = rename(value_of(operand), {&g, name_of(from[0])}, {&g, name_of(to[0])});
  }
  axis = {other};
  return true;
}

std::vector<Axis> Translator::broadcast(std::vector<Term>& operands) {
  std::size_t rank = 0;
  for (const Term& operand : operands) rank = std::max(rank, operand.axes.size());
  std::vector<Axis> result(rank);
  std::ranges::copy(operands[0].axes, result.end() - static_cast<std::ptrdiff_t>(operands[0].axes.size()));
  const auto stands_elsewhere = [&](const Axis& axis, std::size_t place) {
    for (const int dim : axes.dims(axis))
      for (std::size_t i = 0; i < rank; ++i)
        if (const Axis other = axes.dims(result[i]); i != place && std::ranges::find(other, dim) != other.end()) return true;
    return false;
  };
  for (std::size_t n = 1; n < operands.size(); ++n)
    for (std::size_t i = 0; i < operands[n].axes.size(); ++i) {
      Axis& axis = operands[n].axes[i];
      const std::size_t place = rank - operands[n].axes.size() + i;
      if (axes.extent(axis) != 1) rename_if(stands_elsewhere(axis, place), operands[n], axis);
      if (!axes.unify(result[place], axis)) fail(fmt::format("shapes do not broadcast: {} positions beside {}", axes.extent(result[place]), axes.extent(axis)));
      if (axes.extent(result[place]) == 1 && (axes.extent(axis) != 1 || result[place].empty())) result[place] = axis;
    }
  for (Term& operand : operands)
    for (std::size_t i = 0; i < operand.axes.size(); ++i) {
      const Axis &axis = operand.axes[i], &other = result[rank - operand.axes.size() + i];
      if (axes.extent(axis) == 1 && axes.dims(axis) != axes.dims(other)) take_only(operand, axis);
    }
  return result;
}

bool Translator::knows(const OnnxOperation& operation) { return rule_of(operation) != nullptr; }

std::vector<Term> Translator::results(const OnnxOperation& operation, std::span<const Term* const> operands, std::int64_t opset) {
  if (!problem_.empty()) return {};
  const TermRule* rule = rule_of(operation);
  const std::string who =
      fmt::format("node '{}' ({})", operation.name.empty() ? operation.outputs.empty() ? "" : operation.outputs[0] : operation.name, operation.op);
  const auto failed = [&](std::string problem) { return fail(std::move(problem)), std::vector<Term>(); };
  if (rule == nullptr) return failed(fmt::format("{}: the operator is not supported", who));
  const int count = static_cast<int>(operands.size());
  const bool is_whole =
      std::ranges::none_of(operands.first(static_cast<std::size_t>(std::min(count, rule->least))), [](const Term* term) { return term == nullptr; });
  if (count < rule->least || count > rule->most || !is_whole)
    return failed(fmt::format("{}: has {} inputs; {} to {} are right", who, count, rule->least, rule->most));
  std::vector<Term> made;
  if (rule->apply != nullptr) made.push_back(rule->apply(*this, operation, operands, opset));
  else made = rule->apply_all(*this, operation, operands, opset);
  if (!problem_.empty()) problem_ = fmt::format("{}: {}", who, problem_);
  for (const Term& result : made)
    if (emits_ && has_twice(axes, result)) fail(fmt::format("{}: two axes of its result would be one dim; inputs of their own for each role are right", who));
  if (emits_ && !g.problem().empty()) fail(fmt::format("{}: {}", who, g.problem().view()));
  return problem_.empty() ? std::move(made) : std::vector<Term>();
}

Term Translator::apply(const OnnxOperation& operation, std::span<const Term* const> operands, std::int64_t opset) {
  std::vector<Term> made = results(operation, operands, opset);
  return made.empty() ? Term() : std::move(made.front());
}

Term Translator::run(const OnnxSubgraph& subgraph, const Term& input, std::int64_t opset) {
  if (subgraph.inputs.size() != 1 || subgraph.outputs.size() != 1) {
    fail(fmt::format("graph '{}': has {} inputs and {} outputs; one of each is right", subgraph.name, subgraph.inputs.size(), subgraph.outputs.size()));
    return input;
  }
  ++scope_;
  std::map<std::string, Term, std::less<>> terms = {{subgraph.inputs[0].name, input}};
  for (const auto& [name, tensor] : subgraph.constants) terms.emplace(name, constant(name, tensor));
  for (const OnnxOperation& operation : subgraph.operations) {
    std::vector<const Term*> operands;
    for (const std::string& name : operation.inputs) {
      const auto found = terms.find(name);
      if (!name.empty() && found == terms.end()) fail(fmt::format("graph '{}': nothing in it gives '{}'", subgraph.name, name));
      operands.push_back(found == terms.end() ? nullptr : &found->second);
    }
    if (!problem_.empty() || operation.outputs.empty()) break;
    std::vector<Term> made = results(operation, operands, opset);
    if (!problem_.empty()) break;
    for (std::size_t i = 0; i < std::min(made.size(), operation.outputs.size()); ++i)
      terms.insert_or_assign(operation.outputs[i], std::move(made[i]));
  }
  const auto output = terms.find(subgraph.outputs[0].name);
  if (output == terms.end()) fail(fmt::format("graph '{}': nothing in it gives its output '{}'", subgraph.name, subgraph.outputs[0].name));
  return output == terms.end() ? input : output->second;
}

}  // namespace attune
