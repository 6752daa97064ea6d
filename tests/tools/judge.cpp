/// Whether the comparison of kernels with the interpreter can fail: faults that are planted into the graphs are found.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "dsl/summed_over.h"
#include "dsl/variants.h"
#include "tests/decoder_block.h"
#include "tests/variant_graph.h"
#include "tools/measure/allowance.h"
#include "tools/measure/example.h"

namespace attune {
namespace {

/// Weights of which those count that others, greater ones, leave a share for: each is compared with all, itself among them.
struct Nucleus {
  void operator()(Graph& g) const {
    auto [queries, keys, others] = g.dims("queries", "keys", "others");
    const Value w = softmax(g.input("x", {queries, keys}), keys), x = rename(w, keys, others);
    g.output("out", select(sum(select(x > w, x, 0), others) < 0.8, w, 0), {queries, keys});
  }
};

enum class Fault { sign, off_by_one, inverted, wrong_angle, dropped_tail };
constexpr std::array faults = {Fault::sign, Fault::off_by_one, Fault::inverted, Fault::wrong_angle, Fault::dropped_tail};
constexpr std::array fault_names = {"sign", "off by one", "inverted", "wrong angle", "dropped tail"};

/// The last term of the sum, or of the softmax, left out.
void drop_tail(const AnyOp& op, const Evaluated& at, Array& out) {
  const auto* softmax = std::get_if<Softmax>(&op);
  std::vector<Array> in(at.in[0]);
  const Names over = softmax != nullptr ? Names{softmax->over} : summed_over(op);
  const Name last = over[over.size() - 1];
  for (Array& array : in) {
    const std::int64_t stride = array.stride(last), extent = at.extents.at(last);
    for (std::size_t i = 0; i < array.data.size(); ++i)
      if (static_cast<std::int64_t>(i) / stride % extent == extent - 1) array.data[i] = softmax != nullptr ? -INFINITY : 0;
  }
  std::ranges::fill(out.data, 0.0);
  evaluate(op, at.extents, in, out);
}

/// What is added lest a norm be divided by 0: beside numbers around 1 f32 cannot tell its sign.
bool is_tiny(const Node& node) {
  const auto* constant = std::get_if<Constant>(&node.op);
  return constant != nullptr && std::abs(constant->value) <= 1e-5;
}

/// Whether the fault can be planted at the node.
bool is_possible(Fault fault, const Node& node) {
  switch (fault) {
    case Fault::sign: return node.type.kind == Kind::real && !std::holds_alternative<Input>(node.op) && !is_tiny(node);
    case Fault::off_by_one: return std::holds_alternative<Index>(node.op);
    case Fault::inverted: return node.type.kind == Kind::boolean;
    case Fault::wrong_angle: return std::holds_alternative<Sin>(node.op) || std::holds_alternative<Cos>(node.op);
    case Fault::dropped_tail: return std::holds_alternative<Softmax>(node.op) || !summed_over(node.op).empty();
  }
  return false;
}

void plant(Fault fault, const Evaluated& at, Array& out) {
  const AnyOp& op = at.graph.node(at.node).op;
  if (fault == Fault::dropped_tail) return drop_tail(op, at, out);
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    double& x = out.data[i];
    if (fault == Fault::sign) x = -x;
    if (fault == Fault::off_by_one) x += 1;
    if (fault == Fault::inverted) x = 1 - x;
    if (fault == Fault::wrong_angle)
      x = std::holds_alternative<Sin>(op) ? std::sin(at.in[0][0].data[i] + 0.01) : std::cos(at.in[0][0].data[i] + 0.01);
  }
}

/// A fault, where it was, and what became of it.
struct Planted {
  std::string where;
  bool is_found = false, changes_anything = false;
};

/// Plants every fault at every node, one at a time. Some change nothing: a score moved by as much in all of its row, a last key that nobody sees.
std::vector<Planted> planted_faults(const Graph& graph, const Shape& shape) {
  const FilledShape filled = fill_shape(graph, shape);
  REQUIRE(filled.problem == "");
  const Arrays inputs = random_inputs(graph, filled.extents, 1);
  const Judge right = judge(graph, inputs, {});
  REQUIRE(right.problem == "");
  std::vector<Planted> all;
  const Graph nodes = expanded(graph);
  for (int id = 0; id < static_cast<int>(nodes.nodes().size()); ++id)
    for (const Fault fault : faults) {
      if (!is_possible(fault, nodes.node(id))) continue;
      const WalkedGraph wrong = walk(graph, inputs, 2, [&](const Evaluated& at) {
        if (at.node == id) plant(fault, at, at.lanes[1]);
      });
      const auto op_name = operation_name(nodes.node(id).op);
      Planted planted{std::string(fault_names[static_cast<std::size_t>(fault)]) + " in node " + std::to_string(id) + ", " + std::string(op_name),
                      false, false};
      for (const auto& [name, expected] : right.outputs) {
        const std::vector<double>& got = wrong.lanes[1].at(name).data;
        planted.is_found |= compare(got, expected, right.allowed.at(name)).differing > 0;
        planted.changes_anything |= compare(got, expected, {1e-12 * root_mean_square(expected.data), 0, {}}).differing > 0;
      }
      all.push_back(std::move(planted));
    }
  return all;
}

void check_faults(const Graph& graph, const Shape& shape) {
  int found = 0;
  for (const Planted& planted : planted_faults(graph, shape)) {
    INFO(planted.where);
    CHECK(planted.is_found == planted.changes_anything);
    found += planted.is_found ? 1 : 0;
  }
  CHECK(found > 3);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a fault in a variant is found", "[judge]", AnyVariant) {
  INFO(TestType::name);
  check_faults(variant_graph(TestType::name), {});
}

TEST_CASE("elements that are compared with themselves under another name are as large", "[judge]") {
  const Graph graph = build(Nucleus{});
  const Shape shape = fill_shape(graph, {{"queries", 5}, {"keys", 37}}).extents;
  CHECK(judge(graph, random_inputs(graph, shape, 1), {}).problem == "");
}

TEST_CASE("a fault in a block of a decoder is found", "[judge]") {
  check_faults(build(DecoderBlock{}),
               {{"batch", 1}, {"tokens", 37}, {"model", 48}, {"kv_heads", 2}, {"group", 2}, {"half", 8}, {"value_depth", 16}, {"hidden", 40}});
}

}  // namespace attune
