#include "tools/gpu_check/headlines.h"

#include <fmt/format.h>

#include "codegen/targets/targets.h"
#include "dsl/graph.h"
#include "dsl/variant_by_name.h"
#include "tools/attune/peak_graphs.h"

namespace attune {
namespace {

constexpr const char* attention_shape = "batch=4,heads=16,queries=4096,keys=4096";
constexpr const char* product_shape = "rows=4096,inner=4096,columns=4096";

KernelSpec variant_spec(const std::string& target, std::string_view variant, const std::string& type) {
  KernelSpec spec;
  spec.name = fmt::format("{}_{}", variant, type);
  spec.options.graph.graph = variant;
  spec.options.targets = target;
  spec.options.types = type;
  spec.may_be_refused = type != "f32";
  return spec;
}

/// Of a depth that is known when it is compiled.
KernelSpec deep_spec(const std::string& target, std::string_view variant, const std::string& type, int depth) {
  KernelSpec spec = variant_spec(target, variant, type);
  spec.name += fmt::format("_depth_{}", depth);
  spec.options.set = {fmt::format("depth={}", depth), fmt::format("value_depth={}", depth)};
  return spec;
}

KernelSpec attention_spec(const std::string& target, std::string_view variant, const std::string& type, int depth, Headline headline,
                          std::vector<std::string> settings = {}) {
  KernelSpec spec = deep_spec(target, variant, type, depth);
  spec.options.graph.settings = std::move(settings);
  if (headline.shape.empty()) headline.shape = attention_shape;
  spec.headline = std::move(headline);
  return spec;
}

/// A headline of attention with a goal.
Headline at_least(double least, std::string of) {
  Headline headline;
  headline.goal = {std::move(of), least};
  return headline;
}

/// A call so short that the time is the launch's, which the host makes.
KernelSpec short_spec(const std::string& target, const std::string& type) {
  Headline headline;
  headline.shape = "batch=1,heads=12,queries=128,keys=128";
  KernelSpec spec = attention_spec(target, "scaled_dot_product", type, 64, headline);
  spec.name += "_short";
  return spec;
}

/// Keys and values of 8192 tokens for so many queries of each head.
KernelSpec decode_spec(const std::string& target, const std::string& type, int queries, const std::string& schedule = {}) {
  Headline headline = at_least(0.7, "copy");
  headline.shape = fmt::format("batch=8,heads=8,group=4,queries={},keys=8192", queries);
  headline.bytes_of = {"k", "v"};
  KernelSpec spec = attention_spec(target, "grouped_query", type, 128, headline);
  if (queries > 1) spec.name += fmt::format("_queries_{}", queries);
  if (!schedule.empty()) spec.name += "_" + schedule;
  spec.options.schedule = schedule;
  return spec;
}

KernelSpec graph_spec(const std::string& target, LoadedGraph graph, Headline headline, const std::string& type = "f32") {
  KernelSpec spec;
  spec.name = graph.name;
  if (type != "f32") spec.name += "_" + type;
  spec.options.targets = target;
  spec.options.types = type;
  spec.may_be_refused = type != "f32";
  spec.graph = std::move(graph);
  spec.headline = std::move(headline);
  return spec;
}

/// out [rows x columns] = a [rows x inner] b [inner x columns]
LoadedGraph product() {
  LoadedGraph loaded;
  loaded.name = "product";
  Graph& g = loaded.graph;
  const auto [rows, inner, columns] = g.dims("rows", "inner", "columns");
  g.output("out", matmul(g.input("a", {rows, inner}), g.input("b", {inner, columns}), inner), {rows, columns});
  g.finish();
  return loaded;
}

void add_peaks(const std::string& target, std::vector<KernelSpec>& specs) {
  for (const PeakGraph& peak : peak_graphs()) {
    Headline headline;
    for (const auto& [dim, extent] : peak_shape(1 << 27)) headline.shape += fmt::format("{}{}={}", headline.shape.empty() ? "" : ",", dim, extent);
    headline.flops_of_element = peak.flops;
    KernelSpec& spec = specs.emplace_back(graph_spec(target, peak.graph(), headline));
    spec.options = peak_options(target);
    spec.deviations = {{"x", peak.deviation}, {"w", peak.deviation}};
  }
}

void add_headlines(const std::string& target, std::vector<KernelSpec>& specs) {
  for (const int depth : {64, 128}) {
    const std::string dense = specs.emplace_back(attention_spec(target, "scaled_dot_product", "f32", depth, at_least(0.45, "fma"))).name;
    specs.push_back(attention_spec(target, "causal", "f32", depth, at_least(1.7, dense)));
    Headline window = at_least(1 / 1.2, dense);
    window.is_by_blocks = true;
    specs.push_back(attention_spec(target, "sliding_window", "f32", depth, window, {"window=512"}));
    specs.push_back(attention_spec(target, "alibi", "f32", depth, at_least(0.9, dense)));
    specs.push_back(attention_spec(target, "soft_cap", "f32", depth, at_least(0.9, dense)));
  }
  specs.push_back(short_spec(target, "f32"));
  specs.push_back(decode_spec(target, "f32", 1));
  Headline products = at_least(0.6, "fma");
  products.shape = product_shape;
  specs.push_back(graph_spec(target, product(), products));
  if (target == "cuda") {  // where the default is by tensor cores
    KernelSpec& exact = specs.emplace_back(graph_spec(target, product(), products));
    exact.name += "_by_fma";
    exact.options.schedule = "gpu_gemm";
  }
  Headline layer;
  layer.shape = "batch=4,tokens=1024,heads=16,model=1024";
  specs.push_back(attention_spec(target, "multi_head", "f32", 64, layer));
}

/// By tensor cores, where the target has them: about four fifths of what an H100 reached (docs/performance.md).
void add_half_headlines(const std::string& target, std::vector<KernelSpec>& specs) {
  // Beside the schedule of tensor cores, where there is one.
  specs.push_back(decode_spec(target, "bf16", 1, "gpu_split_keys"));
  for (const char* type : {"bf16", "f16"}) {
    for (const int depth : {64, 128}) {
      const Headline headline = at_least(depth == 128 ? 450e3 : 350e3, "gflops");
      const std::string dense = specs.emplace_back(attention_spec(target, "scaled_dot_product", type, depth, headline)).name;
      specs.push_back(attention_spec(target, "causal", type, depth, at_least(1.7, dense)));
      if (type == std::string_view("bf16")) specs.push_back(attention_spec(target, "soft_cap", type, depth, {}));
    }
    specs.push_back(short_spec(target, type));
    for (const int queries : {1, 4, 8}) specs.push_back(decode_spec(target, type, queries));
    Headline products = at_least(500e3, "gflops");
    products.shape = product_shape;
    specs.push_back(graph_spec(target, product(), products, type));
  }
}

}  // namespace

std::vector<KernelSpec> packed_kernels(const std::string& target) {
  std::vector<KernelSpec> specs;
  if (find_target(target)->device != Device::vulkan) {  // whose calls copy their tensors: their times say nothing of kernels
    add_peaks(target, specs);
    add_headlines(target, specs);
    add_half_headlines(target, specs);
  }
  for (const std::string_view variant : variant_names()) specs.push_back(variant_spec(target, variant, "f32"));
  for (const char* type : {"bf16", "f16"})
    for (const char* variant : {"scaled_dot_product", "causal", "grouped_query"}) specs.push_back(variant_spec(target, variant, type));
  for (const char* variant : {"sliding_window", "alibi", "soft_cap", "padded", "document", "grouped_query"})
    specs.push_back(deep_spec(target, variant, "bf16", 64));
  return specs;
}

}  // namespace attune
