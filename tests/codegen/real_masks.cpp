/// Masks that real inputs decide, where these are NaN, infinite or neither: what is judged of a block must hold of its elements.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/codegen/kernel_case.h"
#include "tests/special_numbers.h"

namespace attune {
namespace {

/// Attention with one output for each predicate.
struct RealMasks {
  void operator()(Graph& g) const {
    auto [batch, queries, keys, depth] = g.dims("batch", "queries", "keys", "depth");
    const Value q = g.input("q", {batch, queries, depth});
    const Value k = g.input("k", {batch, keys, depth});
    const Value v = g.input("v", {batch, keys, depth});
    const Value bias = g.input("bias", {queries, keys});       // an element for each pair
    const Value reach = g.input("reach", {batch});             // a number for a whole block
    const Value level = g.input("level", {batch});
    const Value threshold = g.input("threshold", {keys});      // a number for each key
    const Value i = to_real(index(queries)), j = to_real(index(keys));
    double size = 1;
    const auto attend = [&](Name name, Value is_visible) {
      const Value scores = matmul(q * (size *= 0.75), k, depth);  // of its own, so that the whole attention is one stage
      g.output(name, matmul(softmax(mask(scores, is_visible), keys), v, keys), {batch, queries, depth});
    };
    attend("element", bias > 0);
    attend("before", j < reach);
    attend("not_from", !(j >= reach));
    attend("key", threshold > level);
    attend("ratio", i * reach >= j * level);
    attend("itself", reach == reach && j >= 3);
    attend("difference", reach - reach == 0 || j < 20);
    attend("root", j * j <= sqrt(level) * i);
  }
};

/// What a mask hid is compared, and hidden once more: by a number, and by the greatest of its row.
struct HiddenTwice {
  bool by_row = false;
  void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    const Value q = g.input("q", {queries, depth});
    const Value k = g.input("k", {keys, depth});
    const Value v = g.input("v", {keys, depth});
    const Value seen = mask(matmul(q, k, depth), index(queries) >= index(keys));
    const Value low = by_row ? seen < max(seen, keys) - 0.5 : seen < -0.5 && index(keys) > 0;
    g.output("out", matmul(softmax(mask(seen, !low), keys), v, keys), {queries, depth});
  }
};

}  // namespace

TEST_CASE("scores that a mask hid may decide a mask, in every size of call", "[special]") {
  for (const bool by_row : {false, true}) {
    const Graph graph = build(HiddenTwice{by_row});
    const KernelCase kernel(graph, "hidden_twice");
    for (const char* shape : {"queries=1,keys=1,depth=4", "queries=5,keys=6,depth=4", "queries=1,keys=300,depth=16", "queries=37,keys=129,depth=16", "queries=200,keys=200,depth=5"}) {
      INFO(by_row << " " << shape);
      CHECK(kernel.difference(shape, 3) == "");
    }
  }
}

TEST_CASE("NaN and infinities in a real input of a mask hide and show what the language says", "[special]") {
  const Graph graph = build(RealMasks{});
  const KernelCase kernel(graph, "real_masks");
  const std::vector<double> reaches = {quiet_nan, infinity, -infinity, 17.5, 0, 300, -0.0};
  const std::vector<double> levels = {4, 0, quiet_nan, infinity, -infinity, 0.25, 1};
  const std::vector<double> thresholds = {1, quiet_nan, -1, infinity, -infinity, 0, 0.5, 2, -3, 7, 5};
  for (const char* shape : {"batch=7,queries=37,keys=131,depth=5", "batch=7,queries=130,keys=301,depth=16"}) {
    const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
    Arrays inputs = random_inputs(graph, extents, 11);
    inputs.at("reach").data = reaches;
    inputs.at("level").data = levels;
    for (const char* name : {"threshold", "bias"}) {
      std::vector<double>& data = inputs.at(name).data;
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = thresholds[i % thresholds.size()];
    }
    INFO(shape);
    CHECK(kernel.difference(extents, inputs) == "");
  }
}

}  // namespace attune
