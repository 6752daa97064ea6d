/// Properties that hold for every graph, tried on random ones.
#include <set>

#include "tests/dsl/values.h"
#include "tests/random_graph.h"

namespace attune {
namespace {

constexpr std::uint64_t graphs = 400;

/// The array with its dims in the opposite order.
Array turned(const Array& array, const Names& dims) {
  DimExtents extents;
  Array named = array;
  Type type{Kind::real, {}};
  for (int i = 0; i < dims.size(); ++i) extents[dims[i]] = array.extents[static_cast<std::size_t>(i)];
  for (int i = dims.size() - 1; i >= 0; --i) type.dims.add(dims[i]);
  named.type.dims = dims;
  Array result(type, extents);
  Walk(dims, extents, {&named, &result}).run([&](auto at) { result.data[at[1]] = named.data[at[0]]; });
  return result;
}

/// The same graph with the dims of every input in the opposite order in memory.
Graph turned(const Graph& graph) {
  Graph g;
  std::vector<Value> values;
  for (const DimInfo& info : graph.dim_infos()) g.dim(info.name(), info.derivation.formula == Formula::fixed ? info.derivation.value : 0);
  for (const Node& node : graph.nodes()) {
    std::vector<Value> in;
    for (int operand : node.operands()) in.push_back(values[static_cast<std::size_t>(operand)]);
    values.push_back(std::visit(
        [&]<class Op>(const Op& op) {
          if constexpr (!std::is_same_v<Op, Input>) return g.add(op, in, Here::current());
          else {
            Names dims;
            for (int i = op.type.dims.size() - 1; i >= 0; --i) dims.add(op.type.dims[i]);
            return g.input(op.label, dims, op.type.kind, Here::current());
          }
        },
        node.op));
  }
  for (const Output& output : graph.outputs()) g.output_like(output, values[static_cast<std::size_t>(output.node)]);
  g.finish();
  return g;
}

}  // namespace

TEST_CASE("random graphs are valid, and their values stay in bounds", "[random]") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    INFO("seed " << seed);
    const RandomGraph random = random_graph(seed);
    REQUIRE(text(random.graph.problem()) == "");
    const Interpretation result = interpret(random.graph, random.inputs);
    REQUIRE(result.problem == "");
    for (const auto& [name, output] : result.outputs)
      for (const double x : output.data) REQUIRE(std::abs(x) <= RandomGraph::bound);
  }
}

TEST_CASE("random graphs are the same for the same seed", "[random]") {
  const RandomGraph first = random_graph(7), again = random_graph(7);
  REQUIRE(first.graph.nodes().size() == again.graph.nodes().size());
  for (const auto& [name, output] : outputs_of(first.graph, first.inputs)) check_close(outputs_of(again.graph, again.inputs).at(name), output);
}

TEST_CASE("random graphs draw every operation", "[random]") {
  std::set<std::size_t> drawn;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const RandomGraph random = random_graph(seed);
    for (const Node& node : random.graph.nodes()) drawn.insert(node.op.index());
  }
  [&]<class... Op>(const std::variant<Op...>*) {
    (([&] {
       INFO(Op::name);
       CHECK(drawn.contains(AnyOp(Op{}).index()));
     }()),
     ...);
  }(static_cast<const AnyOp*>(nullptr));
}

TEST_CASE("the order of an input's dims in memory changes no result", "[random]") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    INFO("seed " << seed);
    const RandomGraph random = random_graph(seed, {.has_dropout = false});
    Arrays inputs;
    for (const Node& node : random.graph.nodes())
      if (const auto* input = std::get_if<Input>(&node.op))
        inputs[std::string(input->label)] = turned(random.inputs.find(input->label)->second, input->type.dims);
    const Arrays wanted = outputs_of(random.graph, random.inputs), got = outputs_of(turned(random.graph), inputs);
    // a reduction over several dims adds its terms in another order
    for (const auto& [name, output] : wanted) check_close(got.at(name), output, rounding(4096, RandomGraph::bound));
  }
}

TEST_CASE("expanding composites changes no result", "[random]") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    INFO("seed " << seed);
    const RandomGraph random = random_graph(seed);
    const Graph plain = expanded(random.graph);
    const Arrays wanted = outputs_of(random.graph, random.inputs), got = outputs_of(plain, random.inputs);
    for (const auto& [name, output] : wanted) check_close(got.at(name), output);
  }
}

}  // namespace attune
