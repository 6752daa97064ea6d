#include "tools/measure/input_scale.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "dsl/summed_over.h"

namespace attune {
namespace {

using Scales = std::map<std::string, double, std::less<>>;

constexpr double most_deviation = 1.5;
constexpr std::int64_t longest_row = 8, longest_sum = 1024;

bool saturates(const AnyOp& op) {
  return std::holds_alternative<Softmax>(op) || std::holds_alternative<Exp>(op) || std::holds_alternative<Sigmoid>(op) ||
         std::holds_alternative<Tanh>(op) || std::holds_alternative<Erf>(op);
}

/// Which nodes the operand of `node` is computed from.
std::vector<bool> needed_by(const Graph& graph, int node) {
  std::vector<bool> needed(graph.nodes().size(), false);
  for (const int operand : graph.node(node).operands()) needed[static_cast<std::size_t>(operand)] = true;
  for (int id = node; id-- > 0;)
    if (needed[static_cast<std::size_t>(id)])
      for (const int operand : graph.node(id).operands()) needed[static_cast<std::size_t>(operand)] = true;
  return needed;
}

/// The free dims that sums before what saturates run over, but for those of weights of a softmax: their sum is 1 however many there are.
std::set<std::string> summed_dims(const Graph& graph, int last) {
  std::set<std::string> summed, weighed;
  const std::vector<bool> needed = needed_by(graph, last);
  for (int id = 0; id < last; ++id) {
    if (!needed[static_cast<std::size_t>(id)]) continue;
    const AnyOp& op = graph.node(id).op;
    for (Name dim : summed_over(op)) summed.emplace(dim);
    if (const auto* softmax = std::get_if<Softmax>(&op)) weighed.emplace(softmax->over);
  }
  for (const std::string& dim : weighed) summed.erase(dim);
  return free_dims_of(graph, std::move(summed));
}

/// The shape with its dims cut; as it is where formulas of dims forbid that.
Shape cut(const Graph& graph, const Shape& extents, const std::set<std::string>& summed) {
  Shape given;
  for (const DimInfo& info : graph.dim_infos())
    if (info.derivation.formula == Formula::free)
      if (const auto extent = extents.find(info.name()); extent != extents.end())
        given[extent->first] = std::min(extent->second, summed.contains(extent->first) ? longest_sum : longest_row);
  const FilledShape filled = fill_shape(graph, given);
  return filled.problem.empty() ? filled.extents : extents;
}

/// The root mean square of a - zero, less the mean of each row where the dim of a softmax is `row`.
double deviation(const AnyOp& op, const Array& a, const Array& zero, const DimExtents& extents) {
  const auto* softmax = std::get_if<Softmax>(&op);
  const Names row = softmax != nullptr ? Names{softmax->over} : Names{};
  double squares = 0, count = 0;
  Walk(a.type.dims.without(row), extents, {&a}).run([&](auto at) {
    double sum = 0, square = 0, terms = 0;
    Walk(row, extents, {&a}).run([&](auto along) {
      const double x = a.data[at[0] + along[0]] - zero.data[at[0] + along[0]];
      if (std::isfinite(x)) sum += x, square += x * x, ++terms;
    });
    if (terms == 0) return;
    squares += softmax != nullptr ? square - sum * sum / terms : square;
    count += terms;
  });
  return count == 0 ? 0 : std::sqrt(squares / count);
}

/// How far the operand of `node` deviates with the inputs as they are and halved.
struct Deviations {
  double whole = 0, half = 0;
};
Deviations deviations(const Graph& graph, int node, const Arrays& inputs, const std::vector<bool>& scaled) {
  Deviations found;
  walk(graph, inputs, 3, [&](const Evaluated& at) {
    const auto id = static_cast<std::size_t>(at.node);
    if (std::holds_alternative<Input>(at.graph.node(at.node).op) && scaled[id]) {
      for (double& x : at.lanes[1].data) x /= 2;
      for (double& x : at.lanes[2].data) x = 0;
    }
    if (at.node != at.graph.node(node).operands()[0]) return;
    const AnyOp& op = at.graph.node(node).op;
    found = {deviation(op, at.lanes[0], at.lanes[2], at.extents), deviation(op, at.lanes[1], at.lanes[2], at.extents)};
  });
  return found;
}

/// The factor for inputs by which a deviation that grows as a power of them becomes 1; 1 where it does not grow with them.
double factor_for(const Deviations& d) {
  constexpr double smallest = 0x1p-10, least_power = 0.25;
  if (!(d.whole > most_deviation) || !std::isfinite(d.whole) || d.half <= 0) return std::isfinite(d.whole) ? 1 : smallest;
  const double power = std::log2(d.whole / d.half);
  return power < least_power ? 1 : std::max(smallest, std::pow(d.whole, -1 / power));
}

/// The real inputs that operand `place` of a recurrence is made of take the factor, unless an operand before has given them one.
void scale_operand(const Graph& graph, const Node& node, std::size_t place, double factor, Scales& scales, std::vector<bool>& settled) {
  const auto operand = static_cast<std::size_t>(node.operands()[place]);
  std::vector<bool> needed = needed_by(graph, static_cast<int>(operand));
  needed[operand] = true;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const auto* input = std::get_if<Input>(&graph.node(static_cast<int>(i)).op);
    if (!needed[i] || settled[i] || input == nullptr || graph.node(static_cast<int>(i)).type.kind != Kind::real) continue;
    scales.at(std::string(input->label)) *= factor;
    settled[i] = true;
  }
}

/// Of what a recurrence multiplies its state with, token by token.
void scale_recurrences(const Graph& graph, const Shape& extents, Scales& scales, std::vector<bool>& settled) {
  for (const Node& node : graph.nodes())
    std::visit(
        [&]<class Op>(const Op& op) {
          if constexpr (std::is_same_v<Op, Recurrence> || std::is_same_v<Op, RecurrenceState>) {
            const auto root = [&](Name dim) { return 1 / std::sqrt(std::max(1.0, static_cast<double>(extents.find(dim)->second))); };
            constexpr auto key = static_cast<std::size_t>(Op::arity) - (recurrent::operand_count - recurrent::key);
            scale_operand(graph, node, key, root(op.over), scales, settled);
            scale_operand(graph, node, key + recurrent::log_decay - recurrent::key, root(op.along), scales, settled);
            scale_operand(graph, node, key + recurrent::beta - recurrent::key, 0.5, scales, settled);
            scale_operand(graph, node, key + recurrent::asked - recurrent::key, root(op.over), scales, settled);
            scale_operand(graph, node, key + recurrent::erased - recurrent::key, root(op.over), scales, settled);
          }
        },
        node.op);
}

}  // namespace

Scales input_scales(const Graph& described, const Shape& extents) {
  const Graph graph = expanded(described);
  Scales scales;
  for (const Node& node : graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op); input != nullptr && node.type.kind == Kind::real) scales.emplace(input->label, 1.0);
  std::vector<bool> settled(graph.nodes().size(), false);
  scale_recurrences(graph, extents, scales, settled);
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    if (!saturates(graph.node(id).op)) continue;
    std::vector<bool> scaled = needed_by(graph, id);
    bool has_any = false;
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      const Node& node = graph.node(static_cast<int>(i));
      scaled[i] = scaled[i] && !settled[i] && std::holds_alternative<Input>(node.op) && node.type.kind == Kind::real;
      has_any |= scaled[i];
    }
    if (!has_any) continue;
    const Shape small = cut(graph, extents, summed_dims(graph, id));
    // The deviation is a sum of powers of the factor: the second step mends what the first one, which takes it for one power, leaves.
    for (int step = 0; step < 2; ++step) {
      const double factor = factor_for(deviations(graph, id, normal_inputs(graph, small, 1, scales), scaled));
      for (std::size_t i = 0; i < scaled.size(); ++i)
        if (scaled[i]) scales.at(std::string(std::get<Input>(graph.node(static_cast<int>(i)).op).label)) *= factor;
      if (factor == 1) break;
    }
    for (std::size_t i = 0; i < scaled.size(); ++i) settled[i] = settled[i] || scaled[i];
  }
  return scales;
}

}  // namespace attune
