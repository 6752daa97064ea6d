/// Outputs beside the result of attention: reductions of scores and weights, which never store queries x keys.
#include <catch2/catch.hpp>

#include "dsl/variants/attention.h"
#include "runtime/threads.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tools/attune/trial.h"

namespace attune {
namespace {

/// Causal attention with everything that may be asked of its weights and scores.
struct CausalWithAll {
  static constexpr std::string_view name = "causal_with_all";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value scores = mask(a.scores(), index(a.queries) >= index(a.keys)), p = softmax(scores, a.keys);
    a.output(p, a.v);
    a.output_lse(scores);
    g.output("row_max", max(scores, a.keys), {a.batch, a.heads, a.queries});
    g.output("column_sums", sum(p, a.queries), {a.batch, a.heads, a.keys});
    g.output("squares", sum(p * p, a.keys), {a.batch, a.heads, a.queries});
  }
};

/// ReLU attention of visible keys with weights that are divided by their sum, as one writes it, or by any factor made of it.
struct NormalisedWeights {
  bool by_factor = false;
  static constexpr std::string_view name = "normalised_weights";
  static constexpr auto fields = std::tuple{Field{"by_factor", &NormalisedWeights::by_factor}};
  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value weights = select(index(a.queries) >= index(a.keys), maximum(a.scores(), 0), 0), total = sum(weights, a.keys);
    a.output(by_factor ? weights * rsqrt(total * total + 0.25) : weights / (total + 0.5), a.v);
  }
};

/// What a call stores beside its tensors, at one thread.
std::size_t workspace_of(const KernelCase& kernel, const char* given) {
  const Shape shape = fill_shape(kernel.graph(), parse_shape(given, "shape").extents).extents;
  const Kernel& compiled = kernel.kernel_for(shape);
  Trial trial = trial_of(compiled, shape, random_inputs(kernel.graph(), shape, 1));
  Workspace measuring;
  REQUIRE(trial.call(compiled, &measuring));
  return measuring.peak_bytes();
}

const char* const shapes_beside[] = {"queries=1,keys=9,depth=5", "queries=5,keys=37,depth=5", "batch=1,queries=3,keys=131,depth=17", "batch=1,queries=129,keys=70,depth=16",
                                     "queries=3,keys=0", "queries=0,keys=3"};

void check_beside(Tried tried) {
  check_part(KernelCase("scaled_dot_product", {.settings = {"row_max=true", "column_sums=true", "entropy=true"}}), shapes_beside, tried, 0);
  const Graph causal = build(CausalWithAll{});
  check_part(KernelCase(causal, "causal_with_all"), shapes_beside, tried, 1);
}

}  // namespace

TEST_CASE("sums of weights and greatest scores come out beside attention, and of masked attention", "[beside]") { check_beside(Tried::part); }

TEST_CASE("what comes out beside attention is right at every size of call", "[.full]") { check_beside(Tried::whole); }

TEST_CASE("weights that are divided by their sum are summed beside the product, and stored nowhere", "[beside]") {
  for (const bool by_factor : {false, true}) {
    const Graph graph = build(NormalisedWeights{by_factor});
    const KernelCase kernel(graph, "normalised_weights");
    check_shapes(kernel, shapes_beside);
    CHECK(workspace_of(kernel, "batch=1,heads=1,queries=1024,keys=1024,depth=8") < sizeof(float) * 1024 * 1024 / 4);
  }
}

TEST_CASE("reductions of the weights store no queries x keys", "[beside]") {
  const KernelCase kernel("scaled_dot_product", {.settings = {"row_max=true", "lse=true", "column_sums=true", "entropy=true"}, .set = {"depth=8", "value_depth=8"}});
  const auto bytes = [&](const char* queries_and_keys) { return workspace_of(kernel, (std::string("batch=1,heads=1,depth=8,value_depth=8,") + queries_and_keys).c_str()); };
  // four times the pairs are at most twice the memory
  REQUIRE(set_num_threads(1));
  CHECK(bytes("queries=2048,keys=2048") <= 2 * bytes("queries=1024,keys=1024"));
  CHECK(bytes("queries=2048,keys=2048") < sizeof(float) * 2048 * 2048 / 4);
}

}  // namespace attune
