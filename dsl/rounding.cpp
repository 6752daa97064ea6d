#include "dsl/rounding.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "dsl/splitmix64.h"
#include "dsl/sum_errors.h"
#include "dsl/summed_over.h"

namespace attune {
namespace {

constexpr double unit = 0x1p-24;

/// Random numbers of random sign, between a half and one and a half in size: none is so small that a rounding goes unnoticed.
class Signs {
 public:
  explicit Signs(std::uint64_t seed) : words_(seed) {}
  double next() {
    const std::uint64_t z = words_.next();
    const double size = 0.5 + static_cast<double>(z >> 12) * 0x1p-52;
    return (z & 1) != 0 ? size : -size;
  }

 private:
  SplitMix64 words_;
};

/// What is known of a node's value, for the rounding of weights to 16 bits: the unit of what it is, or 0.
struct Storage {
  double own = 0;       ///< numbers of an input stored in 16 bits, moved or times a constant
  double products = 0;  ///< made of a product of two such
  double weights = 0;   ///< made of a softmax over such products
};

template <class... Ops>
bool is_one_of(const AnyOp& op) { return (std::holds_alternative<Ops>(op) || ...); }

/// Of a real node that is no product: the unit of its operands' own numbers, if they are moved, put together, or times a number that all share.
double own_unit(const Node& node, const std::vector<Storage>& known, const Graph& graph) {
  const std::span<const int> operands = node.operands();
  const auto own = [&](int operand) { return known[static_cast<std::size_t>(operand)].own; };
  if (is_one_of<Gather, Slice, Rename, Split, Merge, WriteRows, Negate>(node.op)) return own(operands[0]);
  if (std::holds_alternative<Concat>(node.op)) return own(*std::ranges::min_element(operands, {}, own));
  if (!std::holds_alternative<Multiply>(node.op)) return 0;
  for (const std::size_t factor : {std::size_t{0}, std::size_t{1}})
    if (graph.node(operands[factor]).type.dims.empty()) return own(operands[1 - factor]);
  return 0;
}

Storage storage_of(const Node& node, const std::vector<Storage>& known, const Rounding& rounding, const Graph& graph) {
  if (const auto* input = std::get_if<Input>(&node.op)) {
    const auto unit = rounding.units.find(input->label);
    return {unit == rounding.units.end() ? 0 : unit->second, 0, 0};
  }
  const auto largest = [&](double Storage::* what) {
    double unit = 0;
    for (const int i : node.operands()) unit = std::max(unit, known[static_cast<std::size_t>(i)].*what);
    return unit;
  };
  if (std::holds_alternative<Matmul>(node.op)) {
    const bool is_of_halves = std::ranges::all_of(node.operands(), [&](int i) { return known[static_cast<std::size_t>(i)].own > 0; });
    return {0, is_of_halves ? largest(&Storage::own) : 0, 0};
  }
  if (std::holds_alternative<Softmax>(node.op)) return {0, 0, largest(&Storage::products)};
  return {own_unit(node, known, graph), largest(&Storage::products), largest(&Storage::weights)};
}

bool is_f32(double x) { return std::isnan(x) || static_cast<double>(static_cast<float>(x)) == x; }

/// The number has no more bits than one whose rounding moves it by that unit: it is stored as it is.
bool has_bits_of(double x, double unit) {
  int exponent = 0;
  const double bits = std::frexp(x, &exponent) * (0.5 / unit);
  return bits == std::trunc(bits);
}

double in_range(double x) {
  return std::abs(x) > 0x1.fffffep127 ? std::copysign(std::numeric_limits<double>::infinity(), x) : std::abs(x) < 0x1p-150 ? 0.0 : x;
}

/// The roundings that the operation's result may be off by.
double roundings_of(const AnyOp& any, const DimExtents& extents) {
  return std::visit(
      [&]<class Op>(const Op& op) -> double {
        if constexpr (requires { op.roundings(extents); }) return op.roundings(extents);
        else if constexpr (requires { Op::roundings; }) return Op::roundings;
        else return 1;
      },
      any);
}

/// The node is a sum, or made of one by elementwise operations, as the totals that weights are divided by; `known`: of the nodes before it.
bool is_made_of_sum(const Node& node, const std::vector<bool>& known) {
  if (std::holds_alternative<ReduceSum>(node.op)) return true;
  const bool is_elementwise = std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, node.op);
  return is_elementwise && std::ranges::any_of(node.operands(), [&](int operand) { return known[static_cast<std::size_t>(operand)]; });
}

/// What is rounded: the result, or what its parts have the size of.
double rounded_size(const AnyOp& any, const DimExtents& extents, double result) {
  return std::visit(
      [&]<class Op>(const Op& op) -> double {
        if constexpr (requires { op.rounded_size(extents, result); }) return op.rounded_size(extents, result);
        else return std::abs(result);
      },
      any);
}

/// Changes lanes 1 and up by random roundings.
class Rounder {
 public:
  explicit Rounder(const Rounding& rounding) : rounding_(rounding), signs_(rounding.seed) {}

  void operator()(const Evaluated& node) {
    const Node& at = node.graph.node(node.node);
    storage_.push_back(storage_of(at, storage_, rounding_, node.graph));
    are_made_of_sums_.push_back(is_made_of_sum(at, are_made_of_sums_));
    if (at.type.kind != Kind::real || std::holds_alternative<Input>(at.op)) return;
    if (!summed_over(at.op).empty()) return round_sum(node, at);
    if (round_on_the_way(node, at)) return;
    if (std::holds_alternative<Softmax>(at.op) && has_several_readers(node)) round_kept_weights(node);
    if (std::holds_alternative<WriteRows>(at.op)) return round_stored(node);
    const double roundings = roundings_of(at.op, node.extents), relative = unit * roundings;
    const bool is_exact_where_it_can_be = roundings <= 1 && !is_divided_by_total(node.node, at);  // a kernel's exp(0) need not be 1
    const std::vector<double>& exact = node.lanes[0].data;
    for (std::size_t lane = 1; lane < node.lanes.size(); ++lane)
      for (std::size_t i = 0; i < exact.size(); ++i) {
        double& x = node.lanes[lane].data[i];
        if (std::isfinite(x) && (!is_exact_where_it_can_be || !is_f32(exact[i])))
          x = in_range(x + rounded_size(at.op, node.extents, x) * relative * signs_.next());
      }
  }

 private:
  /// Kernels divide elsewhere, and by another total, so that what cancels in one order, and is exact, does not in the other.
  bool is_divided_by_total(int id, const Node& node) const {
    return (std::holds_alternative<Multiply>(node.op) || std::holds_alternative<Divide>(node.op)) && are_made_of_sums_[static_cast<std::size_t>(id)];
  }

  static bool has_several_readers(const Evaluated& node) {
    std::ptrdiff_t readers = std::ranges::count(node.graph.outputs(), node.node, &Output::node);
    for (const Node& other : node.graph.nodes()) readers += std::ranges::count(other.operands(), node.node);
    return readers > 1;
  }

  /// Weights p that something beside their matmul reads are exp(x - l), l = log_sum_exp(x) = x - ln p, of a score x that is summed once more and of
  /// a rounded l. One lane's rounding of x says how far it may be off.
  void round_kept_weights(const Evaluated& node) {
    const std::vector<double>& exact = node.in[0][0].data;
    for (std::size_t lane = 1; lane < node.lanes.size(); ++lane)
      for (std::size_t i = 0; i < exact.size(); ++i) {
        double& p = node.lanes[lane].data[i];
        const double x = node.in[lane][0].data[i], off = distance(x, exact[i]) + LogSumExp::roundings * unit * (std::abs(x) + std::abs(std::log(p)));
        if (std::isfinite(x) && p > 0) p = in_range(p * std::exp(off * signs_.next()));
      }
  }

  /// Rows are the same numbers, but in the memory of an input they are stored as it is, and read so.
  void round_stored(const Evaluated& node) {
    double of_memory = 0;
    for (const Output& output : node.graph.outputs())
      if (const auto found = rounding_.units.find(output.name); output.is_in_place() && found != rounding_.units.end())
        for (int id = output.node; id != output.input; id = node.graph.node(id).inputs[0])
          if (id == node.node) of_memory = found->second;
    for (std::size_t lane = 1; of_memory > 0 && lane < node.lanes.size(); ++lane)
      for (double& x : node.lanes[lane].data)
        if (std::isfinite(x) && !has_bits_of(x, of_memory)) x = in_range(x + std::abs(x) * of_memory * signs_.next());
  }

  void round_sum(const Evaluated& node, const Node& at) {
    const double of_products = unit_of_products(at);
    const Array errors = sum_errors(node, unit, std::hypot(unit_of_weights(node.graph, at), of_products));
    for (std::size_t lane = 1; lane < node.lanes.size(); ++lane)
      for (std::size_t i = 0; i < errors.data.size(); ++i) {
        double& x = node.lanes[lane].data[i];
        if (of_products > 0 || !is_f32(node.lanes[0].data[i])) x = in_range(x + errors.data[i] * signs_.next());
      }
  }
  /// Computes the lanes anew if the operation rounds before its result.
  bool round_on_the_way(const Evaluated& node, const Node& at) {
    return std::visit(
        [&]<class Op>(const Op& op) {
          const auto rounded = [&](double x, double size) { return std::isfinite(x) ? in_range(x + size * unit * signs_.next()) : x; };
          if constexpr (requires(Array& out) { op.rounded_reference(node.extents, node.in[0], out, rounded); }) {
            for (std::size_t lane = 1; lane < node.lanes.size(); ++lane)
              if (!node.lanes[lane].data.empty()) op.rounded_reference(node.extents, node.in[lane], node.lanes[lane], rounded);
            return true;
          } else {
            return false;
          }
        },
        at.op);
  }

  /// Of the rounding of both operands, or 0.
  double unit_of_products(const Node& at) const {
    if (!std::holds_alternative<Matmul>(at.op)) return 0;
    const auto rounded = std::ranges::count_if(at.operands(), [&](int operand) { return storage_[static_cast<std::size_t>(operand)].own == 0; });
    return rounding_.products * std::sqrt(static_cast<double>(rounded));
  }

  /// Of the rounding of weights before a product with values, or 0.
  double unit_of_weights(const Graph& graph, const Node& at) const {
    if (!std::holds_alternative<Matmul>(at.op)) return 0;
    const auto unit_of = [&](int weights, int values) {
      const Storage& known = storage_[static_cast<std::size_t>(weights)];
      if (!(storage_[static_cast<std::size_t>(values)].own > 0)) return 0.0;
      return std::max(known.weights, are_of_pairs(graph, at, weights, values) ? known.products : 0);
    };
    return std::max(unit_of(at.operands()[0], at.operands()[1]), unit_of(at.operands()[1], at.operands()[0]));
  }

  /// The operand of the matmul may be weights of pairs, which are never stored, and no hidden layer: they share heads with the values, or have a
  /// mask.
  static bool are_of_pairs(const Graph& graph, const Node& matmul, int weights, int values) {
    if (has_mask(graph, weights)) return true;
    const Names &over = std::get<Matmul>(matmul.op).over, &dims = graph.node(values).type.dims;
    return std::ranges::any_of(graph.node(weights).type.dims, [&](Name dim) { return dims.has(dim) && !over.has(dim); });
  }

  /// Something between the value and the product that it is made of is chosen by a condition, or is one of pairs.
  static bool has_mask(const Graph& graph, int value) {
    std::vector<int> left = {value};
    std::vector<bool> is_met(static_cast<std::size_t>(value) + 1);
    while (!left.empty()) {
      const int id = left.back();
      const Node& node = graph.node(id);
      left.pop_back();
      if (std::holds_alternative<Select>(node.op) || (node.type.kind == Kind::boolean && node.type.dims.size() > 1)) return true;
      if (is_met[static_cast<std::size_t>(id)] || !std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, node.op)) continue;
      is_met[static_cast<std::size_t>(id)] = true;
      left.insert(left.end(), node.operands().begin(), node.operands().end());
    }
    return false;
  }

  const Rounding& rounding_;
  Signs signs_;
  std::vector<Storage> storage_;
  std::vector<bool> are_made_of_sums_;
};

/// So many that every output has at least 16 numbers that moved.
int lanes_of(const Graph& graph, const Arrays& inputs) {
  constexpr std::int64_t enough = 16;
  const Bound bound = bind_extents(graph, inputs);
  if (!bound.problem.empty()) return 1;  // the walk says it
  std::int64_t fewest = enough;
  for (const Output& output : graph.outputs()) {
    std::int64_t elements = 1;
    for (Name dim : output.dims) elements = std::min(enough, elements * std::min(enough, bound.extents.at(dim)));
    if (elements > 0) fewest = std::min(fewest, elements);
  }
  return 1 + std::max<int>(Rounding::fewest, static_cast<int>((enough + fewest - 1) / fewest));
}

}  // namespace

Array sum_errors(const Evaluated& node, double unit_of_sums, double unit_of_terms) {
  std::vector<Array> squares(node.in[0]);
  for (Array& array : squares)
    for (double& x : array.data) x *= x;
  const Array& sum = node.lanes[0];
  Array errors(sum.type, node.extents);
  evaluate(node.graph.node(node.node).op, node.extents, squares, errors);
  double count = 1;
  for (Name dim : summed_over(node.graph.node(node.node).op)) count *= static_cast<double>(node.extents.at(dim));
  for (std::size_t i = 0; i < errors.data.size(); ++i) {
    const double s2 = sum.data[i] * sum.data[i], t2 = errors.data[i];
    const double partial_sums = std::max(0.0, count * t2 - s2) / 6 + count * s2 / 3;
    errors.data[i] = std::sqrt(unit_of_sums * unit_of_sums * partial_sums + unit_of_terms * unit_of_terms * t2);
  }
  return errors;
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : std::numeric_limits<double>::infinity();
}

RoundedInterpretation interpret_rounded(const Graph& graph, const Arrays& inputs, const Rounding& rounding) {
  Rounder rounder(rounding);
  WalkedGraph walked = walk(graph, inputs, graph.problem().empty() ? lanes_of(graph, inputs) : 1, std::ref(rounder));
  if (!walked.problem.empty()) return {{}, {}, std::move(walked.problem)};
  RoundedInterpretation result{std::move(walked.lanes[0]), {}, {}};
  for (const auto& [name, exact] : result.outputs) {
    Array moved = exact;
    std::ranges::fill(moved.data, 0.0);
    for (std::size_t lane = 1; lane < walked.lanes.size(); ++lane)
      for (std::size_t i = 0; i < exact.data.size(); ++i)
        moved.data[i] = std::max(moved.data[i], distance(walked.lanes[lane].at(name).data[i], exact.data[i]));
    result.moved.emplace(name, std::move(moved));
  }
  return result;
}

}  // namespace attune
