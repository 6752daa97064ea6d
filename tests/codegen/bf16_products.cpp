/// Products of tensors of bf16, in pairs and in tile registers: what they compute, on any x86-64 machine by the arithmetic that stands in their stead.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "codegen/targets/targets.h"
#include "tests/codegen/kernel_case.h"
#include "tests/skip.h"

namespace attune {
namespace {

/// A target of which the products are those that are meant, and small tiles, so that small calls have several, and last ones that are not full.
struct Products {
  const char* target;
  const char* schedule;
};
const std::vector<Products> kinds = {
    {"zen4", "gemm,packed=1,row_tile=6,column_vectors=2,row_block=2"},
    {"zen4", "gemm,packed=1,row_tile=4,column_vectors=4"},
    {"sapphirerapids-amx", "amx_gemm,row_tile=32,column_vectors=2,row_block=2"},
    {"sapphirerapids-amx", "amx_gemm,row_tile=16,column_vectors=4"},
};

struct Case {
  const char* name;
  Graph graph;
  std::vector<std::string> shapes;
};

/// y = x w^T with a scale, a bias and a function: contracted elements side by side in both operands.
Graph layer() {
  Graph g;
  const auto [rows, hidden, model] = g.dims("rows", "hidden", "model");
  const Value x = g.input("x", {rows, model}), w = g.input("w", {hidden, model}), bias = g.input("bias", {hidden});
  g.output("out", tanh(linear(x, w, model) * 0.5 + bias), {rows, hidden});
  return g;
}

/// y = x w: contracted elements of w are far apart. Of a batch with one w, and a factor of extents.
Graph weights_by_rows() {
  Graph g;
  const auto [batch, rows, hidden, model] = g.dims("batch", "rows", "hidden", "model");
  const Value x = g.input("x", {batch, rows, model}), w = g.input("w", {model, hidden});
  g.output("out", matmul(x / sqrt(extent(model)), w, model), {batch, rows, hidden});
  return g;
}

/// y = k^T v of a batch: those of neither are side by side.
Graph states() {
  Graph g;
  const auto [batch, keys, depth, value_depth] = g.dims("batch", "keys", "depth", "value_depth");
  const Value k = g.input("k", {batch, keys, depth}), v = g.input("v", {batch, keys, value_depth});
  g.output("out", matmul(k, v, keys), {batch, depth, value_depth});
  return g;
}

/// A projection back from heads: two dims are contracted, the inner one in whole words.
Graph from_heads() {
  Graph g;
  const auto [rows, heads, depth, model] = g.dims("rows", "heads", "depth", "model");
  const Value x = g.input("x", {heads, rows, depth}), w = g.input("w", {model, heads, depth});
  g.output("out", matmul(x, w, {heads, depth}), {rows, model});
  return g;
}

std::vector<Case> cases() {
  const std::vector<std::string> of_layer = {"rows=1,hidden=1,model=1",     "rows=37,hidden=129,model=5", "rows=70,hidden=37,model=129",
                                             "rows=129,hidden=80,model=64", "rows=5,hidden=5,model=0",    "rows=0,hidden=5,model=5",
                                             "rows=97,hidden=65,model=31"};
  return {{"layer", layer(), of_layer},
          {"weights_by_rows", weights_by_rows(),
           {"batch=1,rows=1,hidden=1,model=1", "batch=2,rows=37,hidden=129,model=5", "batch=3,rows=70,hidden=37,model=129", "batch=2,rows=33,hidden=64,model=32", "batch=2,rows=33,hidden=5,model=0"}},
          {"states", states(),
           {"batch=1,keys=1,depth=1,value_depth=1", "batch=2,keys=129,depth=37,value_depth=80", "batch=3,keys=5,depth=65,value_depth=5", "batch=1,keys=64,depth=64,value_depth=64"}},
          {"from_heads", from_heads(),
           {"rows=1,heads=1,depth=1,model=1", "rows=37,heads=5,depth=37,model=129", "rows=129,heads=2,depth=32,model=37", "rows=5,heads=0,depth=5,model=5", "rows=65,heads=3,depth=5,model=65"}}};
}

bool runs_model() {
  const TargetInfo *host = find_target("host"), *model = find_target("zen4");
  return host != nullptr && host->triple == model->triple;
}

KernelOptions options_of(const Products& kind) { return {.target = kind.target, .types = "bf16", .schedule = kind.schedule, .is_modelled = true}; }

}  // namespace

TEST_CASE("products of bf16 are what the interpreter computes, whatever the extents", "[bf16_products]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  const auto number = static_cast<std::size_t>(GENERATE(range(0, 4)));
  const Case of = cases().at(number);
  for (const Products& kind : kinds) {
    CAPTURE(of.name, kind.target, kind.schedule);
    const KernelCase kernel(of.graph, of.name, options_of(kind));
    unsigned seed = 3;
    for (const std::string& shape : of.shapes) CHECK(kernel.difference(shape, ++seed) == "");
  }
}

TEST_CASE("extents that are known have the same products", "[bf16_products]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  const Graph graph = layer();
  for (const Products& kind : kinds)
    for (const int model : {33, 64}) {
      CAPTURE(kind.target, kind.schedule, model);
      KernelOptions options = options_of(kind);
      options.set = {"model=" + std::to_string(model), "hidden=70"};
      CHECK(KernelCase(graph, "layer", options).difference("rows=67", 5) == "");
    }
}

TEST_CASE("a product of bf16 with what is not a number is none in its row or column alone", "[bf16_products]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  const Graph graph = layer();
  for (const Products& kind : kinds) {
    CAPTURE(kind.target, kind.schedule);
    const KernelCase kernel(graph, "layer", options_of(kind));
    const Shape extents = kernel.filled("rows=70,hidden=37,model=45").extents;  // the last word is half full, and so are the last tiles
    Arrays inputs = random_inputs(graph, extents, 7);
    inputs.at("x").data[70 * 45 - 1] = std::numeric_limits<double>::quiet_NaN();
    inputs.at("w").data[37 * 45 - 1] = std::numeric_limits<double>::infinity();
    const std::vector<double> out = kernel.outputs(extents, inputs).at("out");
    for (std::size_t row = 0; row < 70; ++row)
      for (std::size_t column = 0; column < 37; ++column) {
        CAPTURE(row, column);
        const double value = out[row * 37 + column];
        if (row == 69) CHECK(std::isnan(value));
        else CHECK((column == 36 ? std::abs(value) == 1 : !std::isnan(value)));  // tanh of an infinite sum
      }
  }
}

TEST_CASE("products whose operands may be rounded to bf16 are as near as that allows", "[bf16_products]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  struct Layer {
    const char *variant, *types, *shape;
    std::vector<std::string> settings = {}, set = {};
  };
  const std::vector<Layer> layers = {
      {"multi_head", "bf16,products=bf16", "batch=2,tokens=70,model=45,heads=3,depth=20,value_depth=17"},
      {"encoder_layer", "f32,products=bf16", "batch=1,tokens=67,model=37,heads=2,depth=16,hidden=70"},
      // Weights that a product of f32 reads where they are.
      {"multi_head", "f32,products=bf16", "batch=1,tokens=70,model=64,heads=2,value_depth=64,panels=1", {"panels=true"}, {"depth=64", "column=64"}},
      {"qk_norm", "bf16,products=bf16", "batch=1,heads=2,queries=66,keys=129,depth=24,value_depth=37"},
      {"masked", "f32,products=bf16", "batch=1,heads=2,queries=70,keys=133,depth=24,value_depth=37"},
  };
  for (const Layer& layer : layers)
    for (const char* target : {"zen4", "sapphirerapids-amx"}) {
      CAPTURE(layer.variant, layer.types, target);
      const KernelCase kernel(layer.variant, {.settings = layer.settings, .target = target, .types = layer.types, .set = layer.set, .is_modelled = true});
      CHECK(kernel.difference(layer.shape, 3) == "");
    }
}

TEST_CASE("attention of bf16 whose values have the contracted dim of the scores", "[bf16_products]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  Graph g;
  const auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
  const Value q = g.input("q", {queries, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, depth});
  g.output("out", matmul(softmax(matmul(q, k, depth) * 0.125, keys), v, keys), {queries, depth});
  for (const char* target : {"zen4", "sapphirerapids-amx"}) {
    CAPTURE(target);
    CHECK(KernelCase(g, "one_depth", {.target = target, .types = "bf16", .is_modelled = true}).difference("queries=70,keys=129,depth=37", 3) == "");
  }
}

TEST_CASE("reductions of rows of scores by products of bf16", "[bf16_products]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  Graph g;
  const auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
  const Value scores = matmul(g.input("q", {queries, depth}), g.input("k", {keys, depth}), depth), seen = mask(scores * 0.125, index(keys) <= index(queries));
  g.output("lse", log_sum_exp(seen, keys), {queries});
  g.output("greatest", max(seen, keys), {queries});
  Graph of_maximum;
  const auto [rows, columns, over] = of_maximum.dims("queries", "keys", "depth");
  of_maximum.output("greatest", max(matmul(of_maximum.input("q", {rows, over}), of_maximum.input("k", {columns, over}), over), columns), {rows});
  for (const char* target : {"zen4", "sapphirerapids-amx"})
    for (const Graph* graph : {&g, &of_maximum}) {
      CAPTURE(target);
      const KernelCase kernel(*graph, "rows", {.target = target, .types = "bf16", .is_modelled = true});
      for (const char* shape : {"queries=70,keys=129,depth=37", "queries=129,keys=641,depth=64", "queries=65,keys=1,depth=1"}) CHECK(kernel.difference(shape, 3) == "");
    }
}

}  // namespace attune
