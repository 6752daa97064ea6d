#include <catch2/catch.hpp>

#include "dsl/variants.h"
#include "tests/codegen/kernel_case.h"
#include "tests/skip.h"

namespace attune {
namespace {

/// Odd extents, extents around a vector and a tile, one, and none. A variant takes the dims that it has.
const char* const shapes[] = {
    "queries=1,keys=1,tokens=1,depth=1", "queries=5,keys=37,tokens=5,depth=5", "queries=37,keys=5,tokens=37,depth=16",
    "batch=1,heads=1,queries=129,keys=129,tokens=129,depth=37", "queries=16,keys=64,tokens=17,depth=64", "queries=3,keys=0,tokens=0",
    "queries=0,keys=3,batch=0"};

/// Those of a shape's dims that the graph has and that follow from no others.
std::string fitting(const std::string& shape, const Graph& graph) {
  std::string result;
  for (const auto& [dim, extent] : parse_shape(shape, "shape").extents)
    for (const DimInfo& info : graph.dim_infos())
      if (info.name() == dim && info.derivation.formula == Formula::free) result += (result.empty() ? "" : ",") + dim + "=" + std::to_string(extent);
  return result;
}

void check_shapes(const KernelCase& kernel) {
  std::uint64_t seed = 1;
  for (const char* shape : shapes) CHECK(kernel.difference(fitting(shape, kernel.graph()), seed++) == "");
}


}  // namespace

TEMPLATE_LIST_TEST_CASE("a variant's kernel agrees with the interpreter on any extents", "[variant]", AnyVariant) {
  check_shapes(KernelCase(std::string(TestType::name)));
}

TEST_CASE("the optional parts of multi_head agree with the interpreter", "[variant]") {
  check_shapes(KernelCase("multi_head", {.settings = {"biases=true", "mask=true", "lengths=true"}}));
  check_shapes(KernelCase("multi_head", {.settings = {"score_weights=true", "dropout=0.1", "weights=true"}}));
}

TEST_CASE("kernels for other CPUs agree with the interpreter", "[target]") {
  for (const char* target : {"x86-64-v3", "x86-64-v4"}) {
    const KernelCase attention("causal", {.target = target});
    if (!attention.is_usable()) {
      skip("this CPU cannot run x86-64-v4");
      continue;
    }
    check_shapes(attention);
    check_shapes(KernelCase("multi_head", {.settings = {"weights=true"}, .target = target}));
  }
}

TEST_CASE("kernels of bf16 agree with the interpreter", "[type]") {
  check_shapes(KernelCase("causal", {.types = "bf16"}));
  check_shapes(KernelCase("grouped_query", {.types = "k=bf16,v=bf16"}));
}

TEST_CASE("extents that are known when a kernel is compiled change no result", "[specialise]") {
  const KernelCase kernel("sliding_window", {.settings = {"window=9"}, .set = {"depth=16", "value_depth=24"}});
  CHECK(kernel.difference("queries=37,keys=53,depth=16,value_depth=24", 1) == "");
  CHECK(kernel.difference("queries=2,keys=129,depth=16,value_depth=24", 2) == "");
}

TEST_CASE("stages that are not fused agree with the interpreter", "[unfused]") {
  check_shapes(KernelCase("soft_cap", {.schedule = "unfused"}));
}

TEST_CASE("the parameters of a schedule change no result", "[schedule]") {
  for (const char* schedule : {"online_softmax,query_tile=24,key_tile=128", "online_softmax,register_rows=4,edge_tile=64"})
    CHECK(KernelCase("causal", {.schedule = schedule}).difference("queries=130,keys=301,depth=37", 3) == "");
}

}  // namespace attune
