#include "dsl/interpret.h"

#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

#include "dsl/follow.h"

namespace attune {
namespace {

std::string text_of(std::span<const std::int64_t> extents) {
  std::ostringstream s;
  for (std::size_t i = 0; i < extents.size(); ++i) s << (i == 0 ? "[" : " x ") << extents[i];
  s << (extents.empty() ? "[]" : "]");
  return s.str();
}

/// `op` on numbers, each operand as a bool where the signature wants one.
template <PointwiseOp Op>
double apply(std::span<const double> x, std::span<const Kind> kinds) {
  static_assert(HasForm<Op, double>, "the operation's function is missing for double: dsl/number.h has those that the standard library lacks");
  if constexpr (Op::signature == Signature::logic) {
    if constexpr (Op::arity == 1) return Op::apply(x[0] != 0);
    else return Op::apply(x[0] != 0, x[1] != 0);
  } else if constexpr (Op::signature == Signature::selection) {
    return Op::apply(x[0] != 0, x[1], x[2]);
  } else if constexpr (Op::arity == 1) {
    return kinds[0] == Kind::boolean ? static_cast<double>(Op::apply(x[0] != 0 ? 1.0 : 0.0)) : static_cast<double>(Op::apply(x[0]));
  } else {
    return static_cast<double>(Op::apply(x[0], x[1]));
  }
}

template <class Op>
void evaluate_op(const Op& op, const DimExtents& extents, std::span<const Array> in, Array& out) {
  if (out.data.empty()) return;  // a reference may walk over the other dims of what it leaves empty
  if constexpr (PointwiseOp<Op>) {
    std::vector<const Array*> arrays;
    std::array<Kind, max_operands> kinds{};
    for (std::size_t i = 0; i < in.size(); ++i) {
      arrays.push_back(&in[i]);
      kinds[i] = in[i].type.kind;
    }
    arrays.push_back(&out);
    std::array<double, max_operands> x{};
    Walk(out.type.dims, extents, arrays).run([&](auto at) {
      for (std::size_t i = 0; i < in.size(); ++i) x[i] = in[i].data[at[i]];
      out.data[at[in.size()]] = apply<Op>({x.data(), in.size()}, {kinds.data(), in.size()});
    });
  } else if constexpr (requires { op.reference(extents, in, out); }) {
    op.reference(extents, in, out);
  }
}

/// Empty, or which element is not of the kind.
std::string refuse_elements(const Input& input, std::span<const double> data) {
  const Kind kind = input.type.kind;
  if (kind == Kind::real) return {};
  for (std::size_t i = 0; i < data.size(); ++i)
    if (!holds(kind, data[i])) {
      std::ostringstream s;
      if (data[i] == std::trunc(data[i])) s << std::setprecision(17);  // all digits of an integer, not 9.0072e+15
      s << "input '" << input.label << "' is " << name_of(kind) << ", but its element " << i << " is " << data[i];
      if (kind == Kind::i64 && data[i] == std::trunc(data[i])) s << "; the interpreter takes integers from -2^53 to 2^53";
      return s.str();
    }
  return {};
}

/// Empty, or which array does not hold what its input is made of.
std::string refuse_arrays(const Graph& graph, const DimExtents& extents, const Arrays& inputs) {
  for (const Node& node : graph.nodes()) {
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr) continue;
    const Array& given = inputs.find(input->label)->second;
    if (given.data.size() != Array(node.type, extents).element_count())
      return "input '" + std::string(input->label) + "' has " + std::to_string(given.data.size()) + " elements for " + text_of(given.extents);
    if (std::string problem = refuse_elements(*input, given.data); !problem.empty()) return problem;
  }
  return {};
}

/// Empty, or which of the given inputs the graph does not have.
std::string refuse_unknown(const Graph& graph, const Arrays& inputs) {
  std::string names;
  std::set<std::string, std::less<>> known;
  for (const Node& node : graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op)) {
      names += (known.empty() ? "" : ", ") + std::string(input->label);
      known.emplace(input->label);
    }
  for (const auto& [name, array] : inputs)
    if (!known.contains(name)) return "there is no input '" + name + "'; the graph has " + (names.empty() ? "none" : names);
  return {};
}

bool has_composites(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (std::visit([]<class Op>(const Op&) { return CompositeOp<Op>; }, node.op)) return true;
  return false;
}

/// The graph with every composite replaced by what it expands to, which may be composites.
Graph expanded_once(const Graph& graph) {
  Graph g;
  std::vector<Value> values;
  // fixed extents are stated, not derived by an operation
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::fixed) g.dim(info.name(), info.derivation.value);
    else g.dim(info.name());
  for (const Node& node : graph.nodes()) {
    std::vector<Value> in;
    for (int operand : node.operands()) in.push_back(values[static_cast<std::size_t>(operand)]);
    values.push_back(std::visit(
        [&]<class Op>(const Op& op) -> Value {
          if constexpr (std::is_same_v<Op, Input>) return g.input(op.label, op.type.dims, op.type.kind, Here::current());
          else if constexpr (CompositeOp<Op>) return op.expand(in, Here::current());
          else return g.add(op, in, Here::current());
        },
        node.op));
  }
  for (const Output& output : graph.outputs())
    g.output_like(output, values[static_cast<std::size_t>(output.node)]);
  g.finish();
  return g;
}

/// The extent of a dim, and the input that gave it.
using GivenExtents = std::map<Name, std::pair<std::int64_t, std::string>, std::less<>>;

/// Adds the extents of an input to those that others gave; or says why they do not fit.
std::string take_extents(const Input& input, const std::vector<std::int64_t>& extents, GivenExtents& given) {
  const Names& dims = input.type.dims;
  const std::string who = "input '" + std::string(input.label) + "' is " + text_of(extents), shape(sentence(dims).view());
  if (extents.size() != static_cast<std::size_t>(dims.size())) return who + "; expected " + shape;
  for (int i = 0; i < dims.size(); ++i) {
    const std::int64_t extent = extents[static_cast<std::size_t>(i)];
    if (extent < 0) return who + "; an extent is 0 or more";
    const auto [place, is_first] = given.try_emplace(dims[i], extent, input.label);
    const auto& [other, by] = place->second;
    if (!is_first && other != extent)
      return who + " as " + shape + ", but " + std::string(dims[i]) + " is " + std::to_string(other) + " in '" + by + "'";
  }
  return {};
}

/// The values of a graph's nodes in one walk over them, each kept until its last reader has come.
class Values {
 public:
  explicit Values(const Graph& graph) : values_(graph.nodes().size()), readers_(graph.nodes().size(), 0) {
    for (const Node& node : graph.nodes())
      for (const int operand : node.operands()) ++readers_[static_cast<std::size_t>(operand)];
    for (const Output& output : graph.outputs()) ++readers_[static_cast<std::size_t>(output.node)];
  }
  void put(int id, Array value) { values_[static_cast<std::size_t>(id)] = std::move(value); }
  Array take(int id) {
    const auto i = static_cast<std::size_t>(id);
    return --readers_[i] == 0 ? std::move(values_[i]) : values_[i];
  }

 private:
  std::vector<Array> values_;
  std::vector<int> readers_;
};

}  // namespace

void evaluate(const AnyOp& op, const DimExtents& extents, std::span<const Array> in, Array& out) {
  std::visit([&](const auto& any) { evaluate_op(any, extents, in, out); }, op);
}

Bound bind_extents(const Graph& graph, const std::map<std::string, std::vector<std::int64_t>, std::less<>>& inputs) {
  Bound bound;
  GivenExtents given;
  for (const Node& node : graph.nodes()) {
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr) continue;
    const auto found = inputs.find(input->label);
    if (found == inputs.end()) return {{}, "input '" + std::string(input->label) + "' is missing"};
    if (std::string problem = take_extents(*input, found->second, given); !problem.empty()) return {{}, std::move(problem)};
  }
  for (const DimInfo& info : graph.dim_infos()) {
    const auto place = given.find(info.name());
    const Derivation& d = info.derivation;
    if (d.formula == Formula::free) {
      if (place != given.end()) bound.extents[info.name()] = place->second.first;
      continue;
    }
    const auto [extent, problem, too_short, is_too_large] = follow(d, [&](Name operand) { return bound.extents.at(operand); });
    const std::string who = "dim " + std::string(info.name());
    if (is_too_large) return {{}, who + " follows from " + std::string(sentence(d.operands).view()) + " and is larger than 63 bits count"};
    if (!problem.empty()) {
      const std::string sliced = d.formula == Formula::slice ? " = " + std::string(written(Steps::of(d.value), too_short).view()) : std::string();
      return {{}, who + sliced + ": " + std::string(problem.view())};
    }
    if (place != given.end() && place->second.first != extent)
      return {{}, "input '" + place->second.second + "' has " + std::string(info.name()) + " = " +
                      std::to_string(place->second.first) + "; it must be " + std::to_string(extent)};
    bound.extents[info.name()] = extent;
  }
  return bound;
}

Bound bind_extents(const Graph& graph, const Arrays& inputs) {
  std::map<std::string, std::vector<std::int64_t>, std::less<>> extents;
  for (const auto& [name, array] : inputs) extents[name] = array.extents;
  return bind_extents(graph, extents);
}

Graph expanded(const Graph& graph) {
  Graph g = expanded_once(graph);
  while (g.problem().empty() && has_composites(g)) g = expanded_once(g);
  return g;
}

WalkedGraph walk(const Graph& described, const Arrays& inputs, int lanes, const Change& change) {
  const auto fail = [](std::string problem) { return WalkedGraph{{}, std::move(problem)}; };
  if (!described.problem().empty()) return fail(std::string(described.problem().view()));
  const Graph graph = expanded(described);
  if (!graph.problem().empty()) return fail("internal: " + std::string(graph.problem().view()));
  const Bound bound = bind_extents(graph, inputs);
  if (!bound.problem.empty()) return fail(bound.problem);
  if (std::string problem = refuse_unknown(graph, inputs); !problem.empty()) return fail(std::move(problem));
  if (std::string problem = refuse_arrays(graph, bound.extents, inputs); !problem.empty()) return fail(std::move(problem));

  std::vector<Values> values(static_cast<std::size_t>(lanes), Values(graph));
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const Node& node = graph.node(id);
    std::vector<std::vector<Array>> in(values.size());
    std::vector<Array> out;
    for (std::size_t lane = 0; lane < values.size(); ++lane) {
      for (const int operand : node.operands()) in[lane].push_back(values[lane].take(operand));
      out.emplace_back(node.type, bound.extents);
      if (const auto* input = std::get_if<Input>(&node.op)) out.back().data = inputs.find(input->label)->second.data;
      else evaluate(node.op, bound.extents, in[lane], out.back());
    }
    if (change) change({graph, id, bound.extents, in, out});
    for (std::size_t lane = 0; lane < values.size(); ++lane) values[lane].put(id, std::move(out[lane]));
  }
  WalkedGraph result{std::vector<Arrays>(values.size()), {}};
  for (const Output& output : graph.outputs())
    for (std::size_t lane = 0; lane < values.size(); ++lane) {
      const Array value = values[lane].take(output.node);
      Array written({value.type.kind, output.dims}, bound.extents);
      Walk(output.dims, bound.extents, {&value, &written}).run([&](auto at) { written.data[at[1]] = value.data[at[0]]; });
      result.lanes[lane].emplace(output.name, std::move(written));
    }
  return result;
}

Interpretation interpret(const Graph& graph, const Arrays& inputs) {
  WalkedGraph walked = walk(graph, inputs, 1, {});
  if (!walked.problem.empty()) return {{}, std::move(walked.problem)};
  return {std::move(walked.lanes[0]), {}};
}

}  // namespace attune
