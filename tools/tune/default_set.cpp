#include "tools/tune/default_set.h"

#include <fmt/format.h>

#include "dsl/variants.h"
#include "tools/attune/mlir_text.h"

namespace attune {
namespace {

/// y = x w^T.
struct LinearLayer {
  static constexpr std::string_view name = "linear";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [rows, hidden, model] = g.dims("rows", "hidden", "model");
    g.output("out", linear(g.input("x", {rows, model}), g.input("w", {hidden, model}), model), {rows, hidden});
  }
};

/// The same with w in panels of `column` columns.
struct PanelledLayer {
  static constexpr std::string_view name = "linear_panels";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [rows, panels, column, model] = g.dims("rows", "panels", "column", "model");
    g.output("out", linear(g.input("x", {rows, model}), g.input("w", {panels, model, column}), model), {rows, panels, column});
  }
};

struct RowsOfWeights {
  static constexpr std::string_view name = "row_softmax";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [rows, keys] = g.dims("rows", "keys");
    g.output("out", softmax(g.input("scores", {rows, keys}), keys), {rows, keys});
  }
};

struct Gated {
  static constexpr std::string_view name = "gated";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [rows, hidden] = g.dims("rows", "hidden");
    const Value gate = g.input("gate", {rows, hidden});
    g.output("out", gate * sigmoid(gate) * g.input("x", {rows, hidden}), {rows, hidden});
  }
};

/// A graph of the set, how it is specialised, and the calls that are measured. Of calls that a kernel calls small some are as short as any limit
/// allows, so that a schedule is reached whatever the defaults at the start say.
struct Row {
  std::string_view title;
  Graph graph;
  std::vector<std::string> set;
  std::string types;
  std::vector<std::string> shapes;
  bool needs_bf16_dot = false;
};

std::vector<Row> rows() {
  const std::vector<std::string> depth_64 = {"depth=64", "value_depth=64"}, depth_128 = {"depth=128", "value_depth=128"};
  const std::string square = "batch=1,heads=4,queries=1024,keys=1024", causal_square = "batch=1,heads=4,queries=2048,keys=2048";
  return {
      {"attention, depth 64",
       build(ScaledDotProduct{}),
       depth_64,
       "f32",
       {square, "batch=1,heads=8,queries=16,keys=512", "batch=1,heads=8,queries=5,keys=128", "batch=1,heads=8,queries=1,keys=2048",
        "batch=1,heads=12,queries=16,keys=16", "batch=1,heads=1,queries=1,keys=1"}},
      {"causal, depth 64", build(Causal{}), depth_64, "f32", {causal_square}},
      {"attention, depth 128", build(ScaledDotProduct{}), depth_128, "f32", {"batch=1,heads=4,queries=768,keys=768"}},
      {"sliding window of 256, depth 64", build(SlidingWindow{}), depth_64, "f32", {causal_square}},
      {"attention in bf16, depth 64", build(ScaledDotProduct{}), depth_64, "bf16", {square}, true},
      {"grouped heads, depth 128", build(GroupedQuery{}), depth_128, "f32", {"batch=1,heads=8,group=4,queries=1,keys=2048"}},
      {"latent attention, absorbed",
       build(Mla{.absorbed = true}),
       {"depth=128", "value_depth=128", "latent=512", "rope=64"},
       "f32",
       {"batch=1,heads=128,queries=1,keys=1024", "batch=1,heads=32,queries=4,keys=1024"}},
      {"gated delta rule, depth 64", build(RecurrentAttention{}), depth_64, "f32", {"batch=1,heads=4,tokens=1024", "batch=1,heads=8,tokens=4"}},
      {"linear",
       build(LinearLayer{}),
       {},
       "f32",
       {"rows=512,hidden=768,model=1024", "rows=16,hidden=768,model=1024", "rows=1,hidden=768,model=1024", "rows=1024,hidden=8,model=768",
        "rows=1024,hidden=1,model=768"}},
      {"linear, weights in panels", build(PanelledLayer{}), {"column=64"}, "f32", {"rows=512,panels=12,model=1024"}},
      {"softmax", build(RowsOfWeights{}), {}, "f32", {"rows=512,keys=1024"}},
      {"gated units", build(Gated{}), {}, "f32", {"rows=512,hidden=3072"}},
  };
}

TuneSubject subject_of(Row row, const TargetInfo& target, const std::vector<std::string>& tuned) {
  Options options;
  options.graph.graph = row.title;
  options.targets = target.name;
  options.set = row.set;
  options.types = row.types;
  options.tuned = tuned;
  LoadedGraph loaded;
  loaded.name = "kernel";
  loaded.graph = std::move(row.graph);
  TuneSubject subject{prepare(options, std::move(loaded)), std::string(row.title), {}, {}, compile_arguments(options, target.name), row.shapes, {}};
  if (!subject.prepared.problem.empty()) return subject;
  MlirText text = mlir_text(subject.prepared, false);
  subject.graph_text = std::move(text.text);
  subject.prepared.problem = std::move(text.problem);
  return subject;
}

}  // namespace

DefaultSet default_set(const TargetInfo& target, const std::vector<std::string>& tuned) {
  DefaultSet set;
  for (Row& row : rows()) {
    if (row.needs_bf16_dot && !target.has_bf16_dot) continue;
    set.subjects.push_back(subject_of(std::move(row), target, tuned));
    set.problem = set.subjects.back().prepared.problem;
    if (!set.problem.empty()) return set;
  }
  return set;
}

}  // namespace attune
