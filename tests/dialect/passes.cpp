#include <catch2/catch.hpp>

#include <mlir/IR/Verifier.h>

#include "codegen/import.h"
#include "codegen/passes/canonicalise.h"
#include "codegen/passes/expand.h"
#include "codegen/passes/form_stages.h"
#include "codegen/passes/specialise.h"
#include "dsl/variants.h"
#include "tests/dsl/values.h"
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
  for_each_variant([](auto variant) {
    DYNAMIC_SECTION(variant.name) {
      const Graph graph = build(variant);
      check_passes(graph, {}, true);
      check_passes(graph, {}, false);
    }
  });
}

TEST_CASE("no pass changes what a variant with known extents means", "[dialect]") {
  for_each_variant([](auto variant) {
    DYNAMIC_SECTION(variant.name) {
      const Graph graph = build(variant);
      Specialisation given;
      given.reals = Element::bf16;
      const Shape shape = small_shape(graph);
      for (const DimInfo& info : graph.dim_infos())
        if (info.derivation.formula == Formula::free) given.extents[std::string(info.name())] = shape.at(std::string(info.name()));
      check_passes(graph, given, true);
    }
  });
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
