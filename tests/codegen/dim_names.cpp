/// Kernels of graphs whose dims have the names of a schedule's own loops.
#include <catch2/catch.hpp>

#include "tests/codegen/kernel_case.h"

namespace attune {
namespace {

/// An elementwise stage of four dims, any of which may still be there when its loops are split. An input has the name of an argument, nearly.
Graph elementwise(std::array<const char*, 4> names) {
  Graph g;
  const Dim a = g.dim(names[0]), b = g.dim(names[1]), c = g.dim(names[2]), d = g.dim(names[3]);
  g.output("out", tanh(g.input("x", {a, b, c, d}) + g.input("extent_of_lane", {d})), {d, c, b, a});
  g.finish();
  return g;
}

/// Causal attention, of dims of these names: queries, keys, depth.
Graph attention(std::array<const char*, 3> names) {
  Graph g;
  const Dim queries = g.dim(names[0]), keys = g.dim(names[1]), depth = g.dim(names[2]);
  const Value q = g.input("q", {queries, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, depth});
  g.output("out", matmul(softmax(mask(matmul(q, k, depth), index(keys) <= index(queries)), keys), v, keys), {queries, depth});
  g.finish();
  return g;
}

}  // namespace

TEST_CASE("dims of the names of a schedule's loops are dims", "[names]") {
  for (const auto& names : {std::array{"part", "vector", "vectors", "lane"}, std::array{"lane", "rows", "task", "part"}}) {
    const Graph graph = elementwise(names);
    const KernelCase kernel(graph, "named");
    const std::string a = names[0], b = names[1], c = names[2], d = names[3];
    CHECK(kernel.difference(a + "=5," + b + "=1," + c + "=3," + d + "=37", 1) == "");
    CHECK(kernel.difference(a + "=37," + b + "=5," + c + "=1," + d + "=2", 2) == "");
  }
  // Of schedules with tiles: a row, column or block of one's own is what many graphs have. tests/schedules/loop_names.py looks at all names.
  for (const auto& names : {std::array{"block", "row", "lane"}, std::array{"columns", "split", "half"}}) {
    const Graph graph = attention(names);
    const KernelCase kernel(graph, "named");
    const std::string queries = names[0], keys = names[1], depth = names[2];
    for (const char* extents : {"37 53", "5 129", "15 70", "129 129"}) {
      const std::string text = extents, rows = text.substr(0, text.find(' ')), columns = text.substr(text.find(' ') + 1);
      CHECK(kernel.difference(queries + "=" + rows + "," + keys + "=" + columns + "," + depth + "=5", 1) == "");
    }
  }
}

}  // namespace attune
