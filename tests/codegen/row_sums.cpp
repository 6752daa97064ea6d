/// Kernels of sums along rows of memory, of several dims, of several sums, and of sums that are made of sums.
#include <catch2/catch.hpp>

#include <string>

#include "dsl/graph.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"

namespace attune {
namespace {

struct Matrices {
  Graph g;
  Dim batch = g.dim("batch"), rows = g.dim("rows"), columns = g.dim("columns");
  Value x = g.input("x", {batch, rows, columns}), y = g.input("y", {rows, columns}), turned = g.input("turned", {columns, batch, rows});
};

/// Each is a stage of its own.
Graph sums() {
  Matrices m;
  auto& [g, batch, rows, columns, x, y, turned] = m;
  const Value mean = sum(x, columns) / to_real(extent(columns)), apart = x - 0.5 * mean;
  g.output("of_rows", sum(x * x, columns), {batch, rows});
  g.output("of_products", 2 * sum(x * y + 1, columns), {batch, rows});
  g.output("of_both", sum(x * y, {rows, columns}), {batch});
  g.output("of_all", sum(x, {batch, rows, columns}), {});
  g.output("of_turned", sum(turned * x, columns), {batch, rows});
  g.output("variance", sum(apart * apart, columns), {rows, batch});
  g.output("two", sum(x, columns) * sum(abs(x), columns) - sum(sum(y, columns), rows), {batch, rows});
  g.output("greatest", maximum(sum(x, columns), max(x, columns)), {batch, rows});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

const char* const shapes[] = {"batch=2,rows=5,columns=37", "batch=1,rows=1,columns=129", "batch=3,rows=17,columns=1", "batch=1,rows=2,columns=16",
                              "batch=2,rows=3,columns=0", "batch=0,rows=3,columns=5", "batch=1,rows=0,columns=64", "batch=2,rows=33,columns=80"};

}  // namespace

TEST_CASE("kernels of sums agree with the interpreter wherever their terms lie", "[sum]") {
  const Graph graph = sums();
  check_shapes(KernelCase(graph, "sums"), shapes);
  for (const char* target : {"x86-64-v3", "x86-64-v4"}) {
    const KernelCase kernel(graph, "sums", {.target = target});
    CAPTURE(target);
    check_shapes(kernel, shapes);
  }
}

}  // namespace attune
