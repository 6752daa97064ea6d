#include <catch2/catch.hpp>

#include <mlir/IR/Verifier.h>

#include <random>

#include "codegen/dialect/import.h"
#include "codegen/passes/canonicalise.h"
#include "codegen/passes/expand.h"
#include "codegen/passes/form_stages.h"
#include "codegen/passes/specialise.h"
#include "dsl/variants.h"
#include "tests/dsl/values.h"
#include "tests/variant_graph.h"
#include "tools/measure/example.h"

namespace attune {
namespace {

/// Small and odd, for those of them that the graph has.
Shape small_shape(const Graph& graph) {
  const Shape all = {{"batch", 2}, {"heads", 3}, {"group", 2}, {"queries", 4},     {"keys", 5},  {"tokens", 5},
                     {"depth", 3}, {"model", 6}, {"hidden", 3}, {"value_depth", 2}};
  Shape given;
  for (const DimInfo& info : graph.dim_infos())
    if (const auto found = all.find(info.name()); found != all.end() && info.derivation.formula == Formula::free) given.insert(*found);
  FilledShape filled = fill_shape(graph, given);
  REQUIRE(filled.problem == "");
  return filled.extents;
}

/// The outputs of the module's function, which must be valid, equal those of the graph up to rounding.
void require_same_meaning(mlir::ModuleOp module, const Arrays& inputs, const Arrays& expected) {
  REQUIRE(mlir::succeeded(mlir::verify(module)));
  const Interpretation got = interpret(to_graph(function_of(module)), inputs);
  REQUIRE(got.problem == "");
  for (const auto& [name, array] : expected) {
    INFO("output " << name);
    check_close(got.outputs.at(name), array, rounding(100, 10));
  }
}

void check_passes(const Graph& graph, const Specialisation& given, bool fuse) {
  const Shape shape = small_shape(graph);
  const Arrays inputs = random_inputs(graph, shape, 7);
  const Interpretation expected = interpret(graph, inputs);
  REQUIRE(expected.problem == "");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto module = import_graph(graph, "variant", nullptr, context);
  REQUIRE(specialise(*module, given) == "");
  require_same_meaning(*module, inputs, expected.outputs);
  expand(*module);
  require_same_meaning(*module, inputs, expected.outputs);
  canonicalise(*module);
  require_same_meaning(*module, inputs, expected.outputs);
  REQUIRE(form_stages(*module, fuse) == "");
  require_same_meaning(*module, inputs, expected.outputs);
  for (mlir::Operation& op : function_of(*module).getBody().front()) CHECK((llvm::isa<StageOp, ReturnOp>(op)));
}

TEST_CASE("no pass changes what a variant means", "[dialect]") {
  for (const std::string_view variant : names_of_variants()) {
    DYNAMIC_SECTION(variant) {
      const Graph graph = variant_graph(variant);
      check_passes(graph, {}, true);
      check_passes(graph, {}, false);
    }
  }
}

TEST_CASE("no pass changes what a variant with known extents means", "[dialect]") {
  for (const std::string_view variant : names_of_variants()) {
    DYNAMIC_SECTION(variant) {
      const Graph graph = variant_graph(variant);
      Specialisation given;
      given.reals = Element::bf16;
      const Shape shape = small_shape(graph);
      for (const DimInfo& info : graph.dim_infos())
        if (info.derivation.formula == Formula::free) given.extents[std::string(info.name())] = shape.at(std::string(info.name()));
      check_passes(graph, given, true);
    }
  }
}

/// Random attention whose score is a sum of up to five terms: products of several kinds, biases by query, key or pair, signs
/// and factors; its dims in random orders.
struct RandomSum {
  Graph g;
  std::mt19937 random;
  Dim batch = g.dim("batch"), heads = g.dim("heads"), queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth"),
      hidden = g.dim("hidden");
  int inputs = 0;

  explicit RandomSum(unsigned seed) : random(seed) {
    const int count = 2 + below(4);
    Value score = matmul(side(queries, depth), side(keys, depth), depth);
    for (int i = 1; i < count; ++i) score = combined(score, term());
    if (below(2) == 0) score = score / sqrt(extent(hidden));
    if (below(2) == 0) score = mask(score, index(queries) >= index(keys));
    const Value out = matmul(softmax(score, keys), g.input("v", {batch, keys, hidden}), keys);
    g.output("out", out, dims_of(out), Here::current());
    g.finish();
  }

 private:
  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  Value input(std::initializer_list<Dim> dims) {
    Names names;
    for (const Dim dim : dims)
      if (!(dim.name == batch.name || dim.name == heads.name) || below(3) > 0) names.add(dim.name);
    if (below(3) == 0 && names.size() == 4) names = Names{names[1], names[0], names[2], names[3]};
    static constexpr std::array<std::string_view, 16> labels = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7",
                                                                "i8", "i9", "ia", "ib", "ic", "id", "ie", "if"};
    return g.input(labels[static_cast<std::size_t>(inputs++)], names, Kind::real);
  }
  Value side(Dim of, Dim over) { return input({batch, heads, of, over}); }
  Value combined(const Value& a, const Value& b) {
    switch (below(4)) {
      case 0: return a - b;
      case 1: return b - a;
      case 2: return (a + b) * 0.5;
      default: return b + a;
    }
  }
  Value term() {
    const Dim over = below(2) == 0 ? depth : hidden;
    switch (below(7)) {
      case 0: return input({queries, keys});
      case 1: return input({heads, keys});
      case 2: return matmul(side(keys, over), side(queries, over), over) * input({heads});
      case 3: return matmul(input({heads, over}), side(keys, over), over);
      case 4: return matmul(side(queries, over), input({queries, keys, over}), over);
      default: return matmul(side(queries, over), side(keys, over), over);
    }
  }
};

TEST_CASE("no pass changes what a sum of products as a score means", "[dialect]") {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    const RandomSum sum(seed);
    REQUIRE(std::string(sum.g.problem().view()) == "");
    check_passes(sum.g, {}, true);
    Specialisation given;
    given.extents = {{"keys", 5}, {"hidden", 3}};
    if (seed % 5 == 0) check_passes(sum.g, given, true);
  }
}

TEST_CASE("a stage is a graph of its own", "[dialect]") {
  const Graph graph = build(Causal{});
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto module = import_graph(graph, "causal", nullptr, context);
  expand(*module);
  canonicalise(*module);
  REQUIRE(form_stages(*module) == "");
  auto stages = function_of(*module).getOps<StageOp>();
  REQUIRE(llvm::range_size(stages) == 1);
  Graph stage = to_graph(*stages.begin());
  stage.finish();
  REQUIRE(std::string(stage.problem().view()) == "");
  Arrays inputs = random_inputs(graph, small_shape(graph), 3), numbered;
  const Array expected = interpret(graph, inputs).outputs.at("out");
  numbered = {{"a0", inputs.at("q")}, {"a1", inputs.at("k")}, {"a2", inputs.at("v")}};
  for (auto& [name, array] : numbered) array.type = {};
  check_close(interpret(stage, numbered).outputs.at("r0"), expected, rounding(100, 10));
}

}  // namespace
}  // namespace attune
