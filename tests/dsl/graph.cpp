/// Graphs as constants: what they hold, what an optional part costs, and that every variant is one.
#include <algorithm>

#include "dsl/variant_by_name.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

/// The number of operations in the graph of a variant, composites counted once.
template <auto Variant>
constexpr std::size_t nodes_of = graph<Variant>.nodes().size();

/// The variants' graphs with default parameters, each checked where this file is compiled.
template <class... V>
constexpr bool are_valid(const std::variant<V...>*) {
  return (graph<V{}>.problem().empty() && ...);
}
static_assert(are_valid(static_cast<const AnyVariant*>(nullptr)));
static_assert(graph<MultiHead{true, true, true, true, true, 0.1, true, true, true, false, true}>.problem().empty());
static_assert(graph<MultiHead{.biases = true, .in_out = true, .projected = false}>.problem().empty());
static_assert(graph<Cross{true, true, true, true, true, true, true, true, false, true}>.problem().empty());
static_assert(graph<Embedded{Positions::learned, true, true}>.problem().empty());

// scores: 3 inputs, matmul, extent, sqrt, 1, divide, scale; then softmax, matmul
static_assert(nodes_of<ScaledDotProduct{}> == 11);
// an optional part adds its own operations, and one not asked for adds none
static_assert(nodes_of<ScaledDotProduct{.weights = true}> == nodes_of<ScaledDotProduct{}>);  // the second output is there already
static_assert(nodes_of<MultiHead{.score_weights = true}> == nodes_of<MultiHead{}> + 2);      // input, multiply
static_assert(nodes_of<MultiHead{.mask = true}> == nodes_of<MultiHead{}> + 2);               // input, mask
static_assert(nodes_of<MultiHead{.lengths = true}> == nodes_of<MultiHead{}> + 4);            // input, index, less, mask
static_assert(nodes_of<MultiHead{.dropout = 0.1}> == nodes_of<MultiHead{}> + 3);             // seed, offset, dropout
static_assert(nodes_of<MultiHead{.biases = true}> == nodes_of<MultiHead{}> + 4);             // 4 inputs, in the linears
static_assert(nodes_of<MultiHead{.panels = true}> == nodes_of<MultiHead{}>);
static_assert(nodes_of<MultiHead{.in_out = true}> == nodes_of<MultiHead{}>);
static_assert(nodes_of<MultiHead{.projected = false}> == nodes_of<MultiHead{}> - 2);  // wo, linear
static_assert(nodes_of<Padded{.clears_padding = true}> == nodes_of<Padded{}> + 2);    // 0, select
static_assert(nodes_of<Embedded{.positions = Positions::learned}> < nodes_of<Embedded{}>);

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op)) names.emplace_back(input->label);
  return names;
}

// What cases of every variant or operation check is no template: it would be compiled for each.
void check_same(const Graph& built, const Graph& compiled) {
  REQUIRE(built.nodes().size() == compiled.nodes().size());
  for (std::size_t i = 0; i < built.nodes().size(); ++i) {
    CHECK(built.nodes()[i].op.index() == compiled.nodes()[i].op.index());
    CHECK(built.nodes()[i].type == compiled.nodes()[i].type);
    CHECK(built.nodes()[i].inputs == compiled.nodes()[i].inputs);
  }
  REQUIRE(built.outputs().size() == compiled.outputs().size());
  for (std::size_t i = 0; i < built.outputs().size(); ++i) CHECK(built.outputs()[i].dims == compiled.outputs()[i].dims);
}

void check_expanded(const Graph& built) {
  const Graph plain = expanded(built);
  REQUIRE(text(plain.problem()) == "");
  CHECK_FALSE(has_composites(plain));
  CHECK(input_names(plain) == input_names(built));
  CHECK(plain.outputs().size() == built.outputs().size());
}

void check_operation(std::string_view name, std::string_view meaning, int arity) {
  CHECK(std::ranges::count(detail::NamesOf<AnyOp>::names, name) == 1);
  CHECK_FALSE(meaning.empty());
  CHECK((arity >= -1 && arity <= max_operands));
}

}  // namespace

TEST_CASE("a variant has the inputs that it was asked for", "[graph]") {
  using Strings = std::vector<std::string>;
  CHECK(input_names(build(MultiHead{})) == Strings{"x", "wq", "wk", "wv", "wo"});
  CHECK(input_names(build(MultiHead{.biases = true, .dropout = 0.1})) ==
        Strings{"x", "wq", "bq", "wk", "bk", "wv", "bv", "seed", "offset", "wo", "bo"});
  CHECK(input_names(build(Embedded{})) == Strings{"tokens", "embedding", "wq", "wk", "wv", "wo"});
}

TEMPLATE_LIST_TEST_CASE("a variant built while the program runs is the one that was compiled", "[graph]", AnyVariant) {
  check_same(build(TestType{}), graph<TestType{}>);
}

TEMPLATE_LIST_TEST_CASE("expanding a variant leaves primitives and elementwise operations of the same meaning", "[graph]", AnyVariant) {
  check_expanded(build(TestType{}));
}

TEST_CASE("dims are listed after those that their extents follow from", "[graph]") {
  Graph g;
  const Dim merged = g.dim("merged"), keys = g.dim("keys");
  auto [tokens, model] = g.dims("tokens", "model");
  const Value x = g.input("x", {tokens, model});
  g.output("out", merge(rename(x, tokens, keys), {keys, model}, merged), {merged});
  g.finish();
  REQUIRE(text(g.problem()) == "");
  std::vector<std::string> names;
  for (const DimInfo& info : g.dim_infos()) names.emplace_back(info.name());
  CHECK(names == std::vector<std::string>{"tokens", "model", "keys", "merged"});
}

TEST_CASE("dims that nothing has are not listed", "[graph]") {
  Graph g;
  auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
  g.dim("dpeth");
  g.dim("fixed", 64);
  const Dim merged = g.dim("merged");
  const Value x = g.input("x", {queries, keys});
  g.input("y", {depth});                               // no output needs it, but a call brings it
  merge(x, {queries, keys}, merged);                   // is dropped, and its dim with it
  const Dim rows = g.dim("rows", 3);                   // extent(rows) alone names it
  split(x, keys, {g.dim("high"), {g.dim("low"), 2}});  // dropped too: both its dims
  g.output("out", x * to_real(extent(rows)), {keys, queries});
  g.finish();
  REQUIRE(text(g.problem()) == "");
  std::vector<std::string> names;
  for (const DimInfo& info : g.dim_infos()) names.emplace_back(info.name());
  CHECK(names == std::vector<std::string>{"queries", "keys", "depth", "rows"});
}

TEST_CASE("only the first problem of a graph is told", "[graph]") {
  Graph g;
  auto [queries, keys] = g.dims("queries", "keys");
  const Value x = g.input("x", {queries});
  const Value wrong = softmax(x, keys);
  const std::string first = text(g.problem());
  g.output("out", matmul(wrong, x, keys), {keys});
  g.finish();
  CHECK(first.find("softmax: runs over keys") != std::string::npos);
  CHECK(text(g.problem()) == first);
}

TEST_CASE("a parameter that makes no sense is refused in the variant's words", "[graph]") {
  CHECK(text(build(SlidingWindow{.window = 0}).problem()) == "window is 0; it must be at least 1");
  CHECK(text(build(SoftCap{.cap = -1}).problem()) == "cap is -1; it must be above 0 and finite");
  CHECK(text(build(SoftCap{.cap = infinity}).problem()) == "cap is inf; it must be above 0 and finite");
  CHECK(text(build(MultiHead{.dropout = 1}).problem()).find("dropout: rate is 1; it must be at least 0 and below 1") != std::string::npos);
}

TEMPLATE_LIST_TEST_CASE("a variant has a name of its own and says what it computes", "[graph]", AnyVariant) {
  CHECK(std::ranges::count(variant_names(), TestType::name) == 1);
  CHECK(TestType::meaning.starts_with("out = "));
}

TEMPLATE_LIST_TEST_CASE("an operation has a name of its own and says what it computes", "[graph]", AnyOp) {
  check_operation(TestType::name, TestType::meaning, TestType::arity);
}

TEST_CASE("what is wrong with an output that a shared part writes is said of the variant's line", "[graph]") {
  Graph g;
  const Attention a(g);
  a.output(a.scores() + to_real(index(g.dim("nowhere"))));
  constexpr int line = __LINE__ - 1;
  CHECK(text(g.problem()).starts_with("line " + std::to_string(line) + ": output: out is written as "));
}

TEST_CASE("a number in a sentence can be recognised", "[text]") {
  const std::pair<double, const char*> numbers[] = {{0.1, "0.1"}, {-2, "-2"}, {1e15, "1000000000000000"}, {9e15, "9e15"}, {-9223372036854775807.0, "-9.223372e18"}, {1.5e300, "1.5e300"}};
  for (const auto& [number, expected] : numbers) CHECK(text(sentence(number)) == expected);
}

}  // namespace attune
