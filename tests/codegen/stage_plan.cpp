#include "codegen/stage_plan.h"

#include <catch2/catch.hpp>

#include "dsl/interpret.h"
#include "dsl/variants.h"

namespace attune {
namespace {

/// The kinds of the stages of a variant, in order.
std::string kinds(const std::string& variant, std::vector<std::string> settings = {}, bool fuse = true) {
  const Graph graph = expanded(build_any(choose_variant(variant, settings).variant));
  std::string text;
  for (const StagePlan& plan : plan_stages(graph, fuse)) text += (text.empty() ? "" : " ") + std::string(name_of(plan.kind));
  return text;
}

}  // namespace

TEST_CASE("attention is one stage", "[plan]") {
  for (const char* variant : {"scaled_dot_product", "causal", "causal_offset", "sliding_window", "soft_cap", "padded", "masked", "grouped_query"})
    CHECK(kinds(variant) == "online_softmax");
}

TEST_CASE("a layer is its projections around one attention", "[plan]") {
  CHECK(kinds("multi_head") == "gemm gemm gemm online_softmax gemm");
  CHECK(kinds("multi_head", {"biases=true", "dropout=0.1"}) == "gemm gemm gemm online_softmax gemm");
  CHECK(kinds("additive") == "gemm gemm online_softmax");
}

TEST_CASE("weights that are an output are stored", "[plan]") {
  CHECK(kinds("multi_head", {"weights=true"}) == "gemm gemm gemm row_softmax gemm gemm gemm");
}

TEST_CASE("without fusion every product and softmax is a stage", "[plan]") {
  CHECK(kinds("causal", {}, false) == "gemm row_softmax gemm");
}

TEST_CASE("a stage finds its inputs among arguments and earlier stages", "[plan]") {
  for (const std::string_view variant : variant_names()) {
    const Graph graph = expanded(build_any(choose_variant(variant, {}).variant));
    std::vector<int> ready;
    for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
      if (std::holds_alternative<Input>(graph.node(id).op)) ready.push_back(id);
    for (const StagePlan& plan : plan_stages(graph)) {
      for (const int input : plan.inputs) CHECK(std::find(ready.begin(), ready.end(), input) != ready.end());
      ready.push_back(plan.result);
    }
  }
}

}  // namespace attune
