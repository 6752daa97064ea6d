/// What tests of plans ask of a graph's stages.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "codegen/plan/stage_plan.h"
#include "dsl/interpret.h"
#include "tests/variant_graph.h"

namespace attune {

/// The kinds of the stages of a variant, in order.
inline std::string kinds(const std::string& variant, const std::vector<std::string>& settings = {}, bool fuse = true) {
  const Graph graph = expanded(variant_graph(variant, settings));
  std::string text;
  for (const StagePlan& plan : plan_stages(graph, fuse)) text += (text.empty() ? "" : " ") + std::string(plan.kind());
  return text;
}

/// The reasons of the stages of a kind.
template <class Roles>
std::vector<std::string> reasons(const Graph& graph, bool fuse = true) {
  std::vector<std::string> found;
  for (const StagePlan& plan : plan_stages(expanded(graph), fuse))
    if (std::holds_alternative<Roles>(plan.roles)) found.push_back(plan.reason);
  return found;
}

/// q k^T over depth, softmax over keys, times v, with something in between.
struct OneHead {
  Graph g;
  Dim queries, keys, depth;
  Value q, k, v;
  OneHead() {
    auto [i, j, d] = g.dims("queries", "keys", "depth");
    queries = i, keys = j, depth = d;
    q = g.input("q", {i, d});
    k = g.input("k", {j, d});
    v = g.input("v", {j, d});
  }
  Value scores() { return matmul(q, k, depth); }
  void output(const Value& weights) { g.output("out", matmul(weights, v, keys), {queries, depth}); }
};

/// What keeps a stage from being of its kind, or nothing: outside of online_softmax, operations with a loop of their own are
/// never computed inside others.
std::string problem_of_plans(const Graph& graph);

}  // namespace attune
