#include "tools/attune/peak_graphs.h"

#include "dsl/graph.h"

namespace attune {
namespace {

constexpr int chain = 96;

/// y = x, then y = y x + w again and again: of numbers below 1 it goes to a number.
void describe_chain(Graph& g) {
  const auto [rows, columns] = g.dims("rows", "columns");
  const Value x = g.input("x", {columns}), w = g.input("w", {rows});
  Value y = x;
  for (int n = 0; n < chain; ++n) y = y * x + w;
  g.output("out", y, {rows, columns});
}

void describe_copy(Graph& g) {
  const auto [rows, columns] = g.dims("rows", "columns");
  g.output("out", -g.input("x", {rows, columns}), {rows, columns});
}

}  // namespace

LoadedGraph PeakGraph::graph() const {
  LoadedGraph loaded;
  loaded.name = name;
  describe(loaded.graph);
  loaded.graph.finish();
  return loaded;
}

std::array<PeakGraph, 2> peak_graphs() {
  constexpr double element = sizeof(float);
  return {PeakGraph{"fma", 2.0 * chain, element, 0.2, describe_chain}, PeakGraph{"copy", 0, 2 * element, 1, describe_copy}};
}

Options peak_options(std::string_view target) {
  Options options;
  options.targets = target;
  options.schedule = "gpu_pointwise,block_columns=32,block_rows=8,thread_rows=8";
  return options;
}

Shape peak_shape(std::int64_t elements) {
  constexpr std::int64_t columns = 1024;
  return {{"rows", elements / columns}, {"columns", columns}};
}

}  // namespace attune
