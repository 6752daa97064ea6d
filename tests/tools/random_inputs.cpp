/// Shapes and inputs that a graph is tried with, and what they let a kernel be off by.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/decoder_block.h"
#include "tests/variant_graph.h"
#include "tools/measure/allowance.h"
#include "tools/measure/example.h"

namespace attune {
namespace {

/// The operand and the result of the graph's only softmax.
struct Scores {
  std::vector<double> scores, weights;
  std::size_t keys = 0;
};
Scores scores_of(const Graph& graph, const Arrays& inputs) {
  Scores found;
  walk(graph, inputs, 1, [&](const Evaluated& at) {
    if (!std::holds_alternative<Softmax>(at.graph.node(at.node).op)) return;
    const Array& scores = at.in[0][0];
    found = {scores.data, at.lanes[0].data, static_cast<std::size_t>(scores.extents.back())};
  });
  return found;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

template <class Build>
Graph graph_of(Build build) {
  Graph g;
  build(g);
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

std::string problem_of(const Graph& graph) {
  return judge(graph, random_inputs(graph, fill_shape(graph, {}).extents, 1), {}).problem;
}

}  // namespace

TEST_CASE("random inputs give scores that a softmax does not make one-hot", "[random inputs]") {
  for (const std::int64_t model : {48, 256}) {
    const Graph graph = variant_graph("multi_head");
    const Arrays inputs = random_inputs(graph, fill_shape(graph, {{"batch", 1}, {"tokens", 40}, {"model", model}}).extents, 3);
    const Scores found = scores_of(graph, inputs);
    const double deviation = root_mean_square(found.scores);
    INFO("model " << model << ": " << deviation);
    CHECK((deviation > 0.5 && deviation < 2));
    std::vector<double> maxima;
    for (std::size_t row = 0; row < found.weights.size(); row += found.keys)
      maxima.push_back(*std::max_element(found.weights.begin() + static_cast<std::ptrdiff_t>(row),
                                         found.weights.begin() + static_cast<std::ptrdiff_t>(row + found.keys)));
    CHECK(median(maxima) < 0.5);
  }
}

TEST_CASE("inputs that saturate nothing are standard normal, and a bias of the variant's own does not make them smaller", "[random inputs]") {
  for (const Graph& graph : {variant_graph("scaled_dot_product"), variant_graph("alibi")}) {
    const Arrays inputs = random_inputs(graph, fill_shape(graph, {}).extents, 1);
    for (const auto& [name, array] : inputs) {
      INFO(name << ": " << root_mean_square(array.data));
      CHECK(std::abs(root_mean_square(array.data) - 1) < 0.05);
    }
  }
}

TEST_CASE("a dim that is cut into parts grows to a multiple of them, and is refused where it is given", "[random inputs]") {
  const Graph graph = graph_of([](Graph& g) {
    auto [tokens, blocks, within] = g.dims("tokens", "blocks", "within");
    g.output("out", split(g.input("x", {tokens}), tokens, {blocks, {within, 64}}), {blocks, within});
  });
  CHECK(fill_shape(graph, {}).extents.at("tokens") == 64);
  CHECK(fill_shape(graph, {{"tokens", 128}}).extents.at("blocks") == 2);
  CHECK(fill_shape(graph, {{"tokens", 37}}).problem == "--shape: tokens is 37; it must be a multiple of 64");
  const Graph joined = graph_of([](Graph& g) {
    auto [past, fresh, tokens, blocks, within] = g.dims("past", "fresh", "tokens", "blocks", "within");
    const Value x = concat({{g.input("old", {past}), past}, {g.input("x", {fresh}), fresh}}, tokens);
    g.output("out", split(x, tokens, {blocks, {within, 64}}), {blocks, within});
  });
  const FilledShape filled = fill_shape(joined, {{"past", 3}});
  CHECK(filled.problem == "");
  CHECK(filled.extents.at("past") == 3);
  CHECK(filled.extents.at("tokens") == 64);
}

TEST_CASE("where rounding alone decides, a comparison is refused", "[judge]") {
  const std::string found = problem_of(graph_of([](Graph& g) {
    const Dim rows = g.dim("rows", 300);
    g.output("out", sin(g.input("x", {rows}) * 1e9), {rows});
  }));
  CHECK_THAT(found, Catch::StartsWith("output 'out' cannot be compared for these inputs: rounding to f32 alone moves ") &&
                        Catch::EndsWith(" of its 300 elements by more than a hundredth of their size; other inputs or extents may say more"));
  // a comparison that nearly ties concerns one element
  const Graph ties = graph_of([](Graph& g) {
    const Dim rows = g.dim("rows", 300);
    const Value x = g.input("x", {rows});
    g.output("out", select(x * 0.1 > x * x, x, -1.0 * x), {rows});
  });
  Arrays inputs = random_inputs(ties, fill_shape(ties, {}).extents, 1);
  inputs.at("x").data[7] = 0.1;
  const Judge right = judge(ties, inputs, {});
  CHECK(right.problem == "");
  std::vector<double> got = right.outputs.at("out").data;
  got[7] = -got[7];
  CHECK(compare(got, right.outputs.at("out"), right.allowed.at("out")).differing == 0);
  got[8] = -got[8];
  CHECK(compare(got, right.outputs.at("out"), right.allowed.at("out")).differing == 1);
}

TEST_CASE("each output has an allowance of its own, and its storage counts where it is", "[judge]") {
  const Graph graph = variant_graph("scaled_dot_product", {"weights=true"});
  Arrays inputs = random_inputs(graph, fill_shape(graph, {}).extents, 1);
  for (double& x : inputs.at("v").data) x *= 1e4;
  const auto number = [&](const char* output, const Storages& storages) { return judge(graph, inputs, storages).allowed.at(output).number; };
  CHECK(number("weights", {}) < 1e-5);
  CHECK(number("out", {}) > 1e-3);
  CHECK(number("out", {{"k", attune_bf16}}) < 2 * number("out", {}));
  CHECK(number("out", {{"q", attune_bf16}, {"k", attune_bf16}, {"v", attune_bf16}}) > 100 * number("out", {}));
  CHECK(judge(graph, inputs, {{"out", attune_bf16}}).allowed.at("out").share == 0x1p-8);
  const Allowance half = judge(graph, inputs, {{"out", attune_f16}}).allowed.at("out");
  CHECK(half.share == 0x1p-11);
  CHECK(half.number == Approx(number("out", {}) + 0x1p-24));
}

}  // namespace attune
