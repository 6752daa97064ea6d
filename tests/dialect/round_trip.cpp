#include <catch2/catch.hpp>

#include <algorithm>

#include "codegen/dialect/import.h"
#include "dsl/variants.h"
#include "tests/operation_examples.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

bool is_same(double a, double b) { return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b); }
bool is_same(const auto& a, const auto& b) { return a == b; }

/// The two are the same operation with the same fields.
bool is_same_op(const AnyOp& a, const AnyOp& b) {
  return a.index() == b.index() && std::visit(
                                       [&]<class Op>(const Op& op) {
                                         const Op& other = std::get<Op>(b);
                                         return std::apply([&](const auto&... f) { return (is_same(op.*f.member, other.*f.member) && ...); }, Op::fields);
                                       },
                                       a);
}

/// The same nodes, outputs and formulas of dims.
void require_same(const Graph& got, const Graph& expected) {
  REQUIRE(std::string(got.problem().view()) == "");
  REQUIRE(got.nodes().size() == expected.nodes().size());
  for (std::size_t i = 0; i < got.nodes().size(); ++i) {
    const Node &a = got.nodes()[i], &b = expected.nodes()[i];
    INFO("node " << i << ": " << operation_name(b.op));
    CHECK(is_same_op(a.op, b.op));
    CHECK(std::ranges::equal(a.operands(), b.operands()));
    CHECK(a.type == b.type);
  }
  REQUIRE(got.outputs().size() == expected.outputs().size());
  for (std::size_t i = 0; i < got.outputs().size(); ++i) {
    const Output &a = got.outputs()[i], &b = expected.outputs()[i];
    CHECK((a.name == b.name && a.node == b.node && a.dims == b.dims));
  }
  for (const DimInfo& dim : expected.dim_infos()) {
    if (dim.derivation.formula == Formula::free && !dim.is_bound) continue;  // named, but nowhere used
    INFO("dim " << dim.name());
    const auto found = std::ranges::find(got.dim_infos(), dim.name(), &DimInfo::name);
    REQUIRE(found != got.dim_infos().end());
    CHECK(found->derivation == dim.derivation);
    CHECK(found->is_bound == dim.is_bound);
  }
}

std::string text_of(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// Graph, module, text, module, text, graph: nothing changes.
void require_round_trip(const Graph& graph) {
  REQUIRE(std::string(graph.problem().view()) == "");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto module = import_graph(graph, "example", nullptr, context);
  const std::string text = text_of(*module);
  INFO(text);
  const ParsedModule parsed = parse_module(text, "example.mlir", context);
  REQUIRE(parsed.problem == "");
  CHECK(text_of(*parsed.module) == text);
  require_same(to_graph(function_of(*parsed.module)), graph);
}

TEMPLATE_LIST_TEST_CASE("an operation comes back from text", "[dialect]", AnyOp) {
  const Graph graph = graph_of_operation<TestType>();
  REQUIRE(std::ranges::any_of(graph.nodes(), [](const Node& node) { return std::holds_alternative<TestType>(node.op); }));
  require_round_trip(graph);
}

TEST_CASE("a variant comes back from text", "[dialect]") {
  for (const std::string_view variant : names_of_variants()) {
    DYNAMIC_SECTION(variant) { require_round_trip(variant_graph(variant)); }
  }
}

TEST_CASE("a constant keeps its value in text", "[dialect]") {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {0.0, -0.0, 1.0, -3.0, 0.1, 1e300, 5e-324, 9007199254740992.0, 1e15, 1e15 - 1, infinity, -infinity, nan}) {
    Graph g;
    g.output("out", literal(&g, value, Kind::real, Here::current()), {});
    g.finish();
    require_round_trip(g);
  }
}

TEST_CASE("a fixed extent stands in every type", "[dialect]") {
  Graph g;
  const Dim depth = g.dim("depth", 64), queries = g.dim("queries");
  g.output("out", exp(g.input("x", {queries, depth})), {depth, queries});
  g.finish();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  CHECK(known_extents(function_of(*import_graph(g, "f", nullptr, context))) == KnownExtents{{"depth", 64}});
  require_round_trip(g);
}

TEST_CASE("the parameters of a variant are attributes of its function", "[dialect]") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const SlidingWindow variant{.window = 512};
  const auto module = import_graph(build(variant), variant.name, encode_fields(variant, &context), context);
  SlidingWindow decoded;
  CHECK(decode_fields(function_of(*module)->getAttrOfType<mlir::DictionaryAttr>(parameters_attribute), decoded) == "");
  CHECK(decoded.window == 512);
  CHECK(function_of(*module).getName() == "sliding_window");
}

TEST_CASE("a text that is no graph is refused with its line", "[dialect]") {
  const auto problem = [](std::string_view text) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const ParsedModule parsed = parse_module(text, "my.mlir", context);
    CHECK(!parsed.module);
    return parsed.problem;
  };
  constexpr std::string_view end = "  attn.return %0 {names = [\"out\"], dims = [[\"a\"]]} : !attn.tensor<a, real>\n}";
  const std::string begin = "func.func @f(%x: !attn.tensor<a, real> {attn.name = \"x\"}) -> !attn.tensor<a, real> {\n";
  CHECK(problem(begin + "  %0 = attn.softmax %x {over = \"b\"} : (!attn.tensor<a, real>) -> !attn.tensor<a, real>\n" + std::string(end)) ==
        "my.mlir: line 2: softmax: runs over b, which x does not have: x is [a]");
  CHECK(problem("") == "my.mlir: holds something else than one func.func; a graph is one function that ends in attn.return");
  CHECK(problem("func.func @f() {\n  return\n}") == "my.mlir: graph: the function 'f' does not end in attn.return");
  CHECK(problem("func.func private @f()") == "my.mlir: graph: the function 'f' does not end in attn.return");
  CHECK(problem(begin + "  %0 = attn.slice %x {from = \"a\", into = \"b\", start = 1 : i64, step = 1 : i64, count = 0 : i64}"
                        " : (!attn.tensor<a, real>) -> !attn.tensor<b, real>\n"
                        "  %1 = attn.rename %0 {from = \"b\", to = \"a\"} : (!attn.tensor<b, real>) -> !attn.tensor<a, real>\n"
                        "  attn.return %1 {names = [\"out\"], dims = [[\"a\"]]} : !attn.tensor<a, real>\n}") ==
        "my.mlir: dim: the extent of a follows from itself, by [b]; a result of another extent needs a dim of another name");
}

}  // namespace
}  // namespace attune
