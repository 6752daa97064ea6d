#include "tools/attune/peak_graphs.h"

#include "dsl/graph_build.h"

namespace attune {
namespace {

constexpr int chain = 96;

Value chained(const Value& x) {
  Value y = x;
  for (int n = 0; n < chain; ++n) y = y * x + x;
  return y;
}

}  // namespace

LoadedGraph PeakGraph::graph() const {
  Graph g;
  const Dim elements = g.dim("elements");
  const Value x = g.input("x", {elements});
  g.output(name, compute(x), {elements});
  g.finish();
  LoadedGraph loaded;
  loaded.name = name;
  loaded.graph = g;
  return loaded;
}

std::array<PeakGraph, 2> peak_graphs() {
  constexpr double moved = 2 * sizeof(float);
  return {PeakGraph{"fma", 2.0 * chain, moved, chained}, PeakGraph{"copy", 0, moved, [](const Value& x) { return -x; }}};
}

}  // namespace attune
